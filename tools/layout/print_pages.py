"""Prints designs with Chromium into PDFs: print_pages.py TEXTS PICTURES OUT FIRST COUNT."""

from __future__ import annotations

import base64
import io
import json
import random
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

import websocket
from designs import document
from PIL import Image

PAGES = 7  # of a document at most


def pictures(folder: Path) -> list[bytes]:
    """Small cuts of free photographs, and gradients with noise."""
    r, made = random.Random(5), []
    for file in sorted([*folder.rglob("*.jpg"), *folder.rglob("*.png"), *folder.rglob("*.webp")]):
        whole = Image.open(file).convert("RGB")
        for _ in range(3):
            side = r.randint(min(whole.size) // 3, min(whole.size) - 1)
            x, y = r.randint(0, whole.width - side), r.randint(0, whole.height - side)
            cut = whole.crop((x, y, x + side, y + side)).resize((220, 165))
            raw = io.BytesIO()
            (cut.convert("L") if r.random() < 0.25 else cut).save(raw, "JPEG", quality=38)
            made.append(raw.getvalue())
    return made


class Browser:
    def __init__(self, port: int) -> None:
        self.process = subprocess.Popen(
            ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", f"--remote-debugging-port={port}",
             "--remote-allow-origins=*", f"--user-data-dir=/tmp/student.d/chrome{port}", "about:blank"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        for _ in range(100):
            try:
                tabs = json.load(urllib.request.urlopen(f"http://127.0.0.1:{port}/json"))
                break
            except OSError:
                time.sleep(0.3)
        page = next(tab for tab in tabs if tab["type"] == "page")
        self.socket = websocket.create_connection(page["webSocketDebuggerUrl"], timeout=60)
        self.number = 0

    def call(self, method: str, **parameters: Any) -> Any:
        self.number += 1
        self.socket.send(json.dumps({"id": self.number, "method": method, "params": parameters}))
        while True:
            answer = json.loads(self.socket.recv())
            if answer.get("id") == self.number:
                return answer.get("result", answer)

    def pdf(self, page: str) -> bytes:
        frame = self.call("Page.getFrameTree")["frameTree"]["frame"]["id"]
        self.call("Page.setDocumentContent", frameId=frame, html=page)
        self.call("Runtime.evaluate", expression="document.fonts.ready", awaitPromise=True)
        printed = self.call(
            "Page.printToPDF",
            printBackground=True,
            preferCSSPageSize=True,
            pageRanges=f"1-{PAGES}",
            generateTaggedPDF=False,
        )
        if "data" not in printed:  # fewer pages than asked for
            printed = self.call(
                "Page.printToPDF", printBackground=True, preferCSSPageSize=True, generateTaggedPDF=False
            )
        return base64.b64decode(printed["data"])


def main() -> None:
    texts = json.loads(Path(sys.argv[1]).read_text())
    shown, out = pictures(Path(sys.argv[2])), Path(sys.argv[3])
    out.mkdir(parents=True, exist_ok=True)
    first, count = int(sys.argv[4]), int(sys.argv[5])
    browser = Browser(9300 + first % 97)
    for seed in range(first, first + count):
        try:
            (out / f"{seed:05}.pdf").write_bytes(browser.pdf(document(seed, texts, shown)))
        except Exception as exc:
            print(seed, type(exc), exc, flush=True)
    browser.process.terminate()


if __name__ == "__main__":
    main()
