"""Serves SmolLM2-135M by llama.cpp until its standard input ends: real weights, real logprobs.

    python small_model_server.py MODEL.gguf [rerank]

Run by an environment with xllamacpp; the first line it prints is the server's address. With "rerank" it
scores texts: the model has no head for that, so the scores mean nothing, but server and route are real.
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
    if sys.argv[2:] == ["rerank"]:
        parameters.embedding = True
        parameters.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_RANK
    with socket.create_server(("127.0.0.1", 0)) as free:
        parameters.port = free.getsockname()[1]
    server = xllamacpp.Server(parameters)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
