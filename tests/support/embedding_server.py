"""A /v1/embeddings server without a model: a vector is made from the words' or the picture's own bytes."""

from __future__ import annotations

import base64
import hashlib
import json
from http.server import BaseHTTPRequestHandler
from typing import Any

import numpy as np

from tests.support.local_server import LocalServer

WIDTH = 64
MAX_CHARS = 2_000


def vector_of(content: str) -> Any:
    seed = int(hashlib.sha256(content.encode()).hexdigest()[:8], 16)
    return 3.0 * np.random.default_rng(seed).normal(size=WIDTH).astype(np.float32)


class Server(LocalServer):
    """`fails` is how many requests get a 503 first, `key` what it wants. `bodies` keeps what was asked."""

    def __init__(self, owner: str = "vllm", fails: int = 0, model: str = "tiny", key: str = "") -> None:
        self.owner = owner
        self.key = key
        self.model = model
        self.fails = fails
        self.bodies: list[dict[str, Any]] = []
        super().__init__(self._handler())

    def answer(self, body: dict[str, Any]) -> tuple[int, Any]:
        self.bodies.append(body)
        if self.fails > 0:
            self.fails -= 1
            return 503, {"error": {"message": "busy"}}
        content = json.dumps(body["messages"]) if "messages" in body else str(body["input"])
        if "image_url" not in content and len(content) > MAX_CHARS:
            return 400, {"error": {"message": "This model's maximum context length is 2000 tokens."}}
        vector = vector_of(content)
        packed = base64.b64encode(vector.tobytes()).decode()
        return 200, {"data": [{"embedding": packed if "messages" in body else vector.tolist()}]}

    def _handler(server) -> type[BaseHTTPRequestHandler]:
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: Any) -> None:
                pass

            def do_GET(self) -> None:
                if server.key and self.headers["Authorization"] != f"Bearer {server.key}":
                    self._send(401, {"error": "Unauthorized"})
                    return
                self._send(200, {"data": [{"id": server.model, "owned_by": server.owner}]})

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                self._send(*server.answer(body))

            def _send(self, status: int, value: Any) -> None:
                data = json.dumps(value).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        return Handler
