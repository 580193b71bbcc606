"""Serves SmolLM2-135M by llama.cpp until its standard input ends: real weights, real logprobs.

    python small_model_server.py MODEL.gguf

Run by an environment with xllamacpp; the first line it prints is the server's address.
"""

from __future__ import annotations

import socket
import sys

import xllamacpp  # type: ignore[import-not-found]


def main() -> None:
    parameters = xllamacpp.CommonParams()
    parameters.model.path = sys.argv[1]
    parameters.n_ctx = 1024
    parameters.n_parallel = 1
    parameters.cpuparams.n_threads = 1
    with socket.create_server(("127.0.0.1", 0)) as free:
        parameters.port = free.getsockname()[1]
    server = xllamacpp.Server(parameters)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
