# Builds the server from source, then keeps only Python, the installed package and what it imports.
FROM python:3.13-slim AS build
RUN apt-get update \
    && apt-get install --yes --no-install-recommends gcc libc6-dev \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY . .
RUN python -m venv /opt/aleator \
    && /opt/aleator/bin/pip install --no-cache-dir .

FROM python:3.13-slim
COPY --from=build /opt/aleator /opt/aleator
ENV PATH=/opt/aleator/bin:$PATH
USER 10001:10001
EXPOSE 50051
HEALTHCHECK --interval=10s --timeout=5s --start-period=10s \
    CMD ["aleator", "health"]
ENTRYPOINT ["aleator"]
# Anybody who reaches the port may use it, unencrypted: docs/security.md tells how to change that.
CMD ["serve", "--listen", "0.0.0.0:50051", "--insecure"]
