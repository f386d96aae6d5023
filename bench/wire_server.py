"""The ordinary server with two more methods, for comparison: `python -m bench.wire_server`."""

import time

import grpc

from aleator.service.server import run
from aleator.service.settings import Settings

ECHO = "/aleator.bench.Bench/Echo"
PROCESSOR_TIME = "/aleator.bench.Bench/ProcessorTime"


class _Bench(grpc.GenericRpcHandler):
    """Echoes bytes, and tells how many seconds of processor time the server has used."""

    def __init__(self) -> None:
        self._methods = {
            ECHO: grpc.unary_unary_rpc_method_handler(_echo),
            PROCESSOR_TIME: grpc.unary_unary_rpc_method_handler(_processor_time),
        }

    def service(self, call: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler | None:
        return self._methods.get(call.method)


async def _echo(request: bytes, _: grpc.aio.ServicerContext) -> bytes:
    return request


async def _processor_time(_request: bytes, _: grpc.aio.ServicerContext) -> bytes:
    return repr(time.process_time()).encode()


if __name__ == "__main__":
    run(Settings(listen="127.0.0.1:0"), handlers=[_Bench()])
