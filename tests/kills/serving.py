"""A service and one who sends it documents, in one process: `python -m tests.kills.serving OUT PAGES`.

It ends when all documents are read. Killed and started again it sends them all again, as a client does that
got no answer.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import threading
import urllib.request
from pathlib import Path
from urllib.parse import quote

from penstock.cli.app import app
from penstock.engines.vllm.server import free_port
from penstock.testing.fake_recipe import __name__ as recipe
from tests.support.waiting import wait_until

ANSWER_S = 60.0


def send_all(address: str, pages: Path) -> None:
    _await_answer(f"{address}/health")
    sent = [_ask(f"{address}/v1/documents?name={path.name}", path.read_bytes()) for path in pages.iterdir()]
    waiting = [str(row["name"]) for row in sent]
    while waiting:
        told = _ask(f"{address}/v1/document?name={quote(waiting[0])}&wait=30")
        if told["pages"] is not None and told["done"] + told["failed"] >= told["pages"]:
            del waiting[0]
    os.kill(os.getpid(), signal.SIGINT)


def _ask(address: str, body: bytes | None = None) -> dict[str, int | str]:
    with urllib.request.urlopen(urllib.request.Request(address, body), timeout=ANSWER_S) as answer:
        row: dict[str, int | str] = json.loads(answer.read())
        return row


def _await_answer(address: str) -> None:
    def answers() -> bool:
        with contextlib.suppress(OSError):
            return bool(_ask(address))
        return False

    try:
        wait_until(answers, ANSWER_S, pause_s=0.05)
    except AssertionError:  # in a thread: the process would go on without it
        os._exit(3)


if __name__ == "__main__":
    port = free_port()
    threading.Thread(
        target=send_all, args=(f"http://127.0.0.1:{port}", Path(sys.argv[2])), daemon=True
    ).start()
    app(["serve", sys.argv[1], "--recipe", f"{recipe}:fake", "--port", str(port)])
