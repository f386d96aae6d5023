"""Asks a server on this machine whether it serves: the exit status is 0 if so, else 1.

For a container's health check, `python -m aleator.service.healthcheck`, which needs no program
beside the server's own.
"""

import sys

import grpc
from grpc_health.v1.health_pb2 import HealthCheckRequest, HealthCheckResponse

ADDRESS = "127.0.0.1:50051"
TIMEOUT = 3.0
"""Seconds to wait for the answer."""


def is_serving(address: str = ADDRESS) -> bool:
    """Tell whether the server at `address` answers that it serves."""
    with grpc.insecure_channel(address) as channel:
        check = channel.unary_unary(
            "/grpc.health.v1.Health/Check",
            request_serializer=HealthCheckRequest.SerializeToString,
            response_deserializer=HealthCheckResponse.FromString,
        )
        try:
            response = check(HealthCheckRequest(), timeout=TIMEOUT)
        except grpc.RpcError:
            return False
    return response.status == HealthCheckResponse.SERVING


if __name__ == "__main__":
    sys.exit(not is_serving(*sys.argv[1:2]))
