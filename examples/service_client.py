"""Sends documents to a running `penstock serve` and prints their Markdown as they are read.

penstock serve out --recipe documents &
python examples/service_client.py report.pdf scan.png
"""

from __future__ import annotations

import json
import os
import sys
import urllib.request
from pathlib import Path
from urllib.parse import urlencode

SERVICE = os.environ.get("SERVICE", "http://127.0.0.1:8080")


def ask(path: str, body: bytes | None = None, **question: object) -> bytes:
    with urllib.request.urlopen(f"{SERVICE}{path}?{urlencode(question)}", body) as answer:
        data: bytes = answer.read()
        return data


def main() -> None:
    files = [Path(name) for name in sys.argv[1:]]
    sent = [json.loads(ask("/v1/documents", file.read_bytes(), name=file.name)) for file in files]
    for document in sent:
        while not document["ready"]:
            document = json.loads(ask("/v1/document", name=document["name"], wait=30))
        print(ask("/v1/markdown", name=document["name"]).decode())


if __name__ == "__main__":
    main()
