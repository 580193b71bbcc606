"""A real Chromium without a window, driven over its debugging pipe: no driver program, no package.

The pipe is Chromium's own (--remote-debugging-pipe): JSON messages that end with a zero byte. Clicks and keys
are sent as a mouse and a keyboard would.
"""

from __future__ import annotations

import base64
import itertools
import json
import os
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Self

import pytest

from tests.support.waiting import HANGS_S, wait_until

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed (Debian: chromium)")
# alone, in a folder of its own, asking nobody: so it starts as root and without a network
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
DRIVEN = ("--disable-dev-shm-usage", "--remote-debugging-pipe", "about:blank")
# Chromium reads from 3 and writes to 4; the numbers we have are others
ON_3_AND_4 = """
import fcntl, os, sys
high = [fcntl.fcntl(int(number), fcntl.F_DUPFD, 10) for number in sys.argv[1:3]]
for source, target in zip(high, (3, 4)):
    os.dup2(source, target)
os.execv(sys.argv[3], sys.argv[3:])
"""
MIDDLE = """(() => {
  const node = document.querySelector(SELECTOR);
  if (!node) return null;
  node.scrollIntoView({block: "nearest", inline: "nearest", behavior: "instant"});
  const box = node.getBoundingClientRect();
  return box.width ? [box.x + box.width / 2, box.y + box.height / 2] : null;
})()"""
KEYS = {
    "Enter": 13,
    "Tab": 9,
    "Escape": 27,
    "ArrowDown": 40,
    "ArrowUp": 38,
    "ArrowRight": 39,
    "ArrowLeft": 37,
}


Share = tuple[float, float]
MOUSE_DRAGS = ("mousePressed", "mouseMoved", "mouseMoved")


class BrowserError(AssertionError):
    """What the page threw, or what Chromium refused."""


class Browser:
    """One Chromium with one tab, for as long as a `with` lasts."""

    def __init__(self, folder: Path) -> None:
        assert CHROMIUM is not None
        self._ids = itertools.count(1)
        self._rest = b""
        self.console: list[str] = []  # errors that the page's own console has, CSP reports among them
        their_in, self._out = os.pipe()
        self._in, their_out = os.pipe()
        command = [CHROMIUM, *FLAGS, *DRIVEN, f"--user-data-dir={folder / 'profile'}"]
        self._process = subprocess.Popen(
            [sys.executable, "-c", ON_3_AND_4, str(their_in), str(their_out), *command],
            pass_fds=(their_in, their_out),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(their_in)
        os.close(their_out)
        self._session: str | None = None

    def __enter__(self) -> Self:
        try:
            found = self.call("Target.getTargets")["targetInfos"]
            [target] = [one["targetId"] for one in found if one["type"] == "page"]
            asked = {"targetId": target, "flatten": True}
            self._session = self.call("Target.attachToTarget", **asked)["sessionId"]
            for domain in ("Page", "Runtime", "DOM", "Log"):
                self.call(f"{domain}.enable")
            self.screen(1280, 900)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(10)
        os.close(self._out)
        os.close(self._in)

    # what a person sets

    def screen(self, width: int, height: int, *, scale: float = 1, phone: bool = False) -> None:
        """Makes the window so large; a phone's has fingers instead of a mouse."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale,
                  mobile=phone)  # fmt: skip

    def speaks(self, language: str) -> None:
        """Sets the browser's language; from the next page on."""
        agent = self.ask("navigator.userAgent")
        self.call("Emulation.setUserAgentOverride", userAgent=agent, acceptLanguage=language)

    def is_dark(self, dark: bool) -> None:
        """Sets whether the machine is; and that it wants no motion: a click would miss what still scrolls."""
        wanted = {"prefers-color-scheme": "dark" if dark else "light", "prefers-reduced-motion": "reduce"}
        features = [{"name": name, "value": value} for name, value in wanted.items()]
        self.call("Emulation.setEmulatedMedia", features=features)

    def open(self, url: str) -> None:
        self.call("Page.navigate", url="about:blank")  # or a new #fragment would keep the old page
        self.await_("location.href === 'about:blank'")
        told = self.call("Page.navigate", url=url)
        assert not told.get("errorText"), told
        self.await_("location.href !== 'about:blank' && document.readyState === 'complete'")

    # what a person does

    def click(self, selector: str) -> None:
        """Clicks the middle of what is there, as a mouse does: something above it would get the click."""
        x, y = self._middle(selector)
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def hover(self, selector: str) -> None:
        x, y = self._middle(selector)
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def type(self, text: str) -> None:
        self.call("Input.insertText", text=text)

    def drag(self, selector: str, start: Share, end: Share, *, finger: bool = False) -> None:
        """Draws from one place on an element to another, shares of its sides, by mouse or finger."""
        script = f"document.querySelector({json.dumps(selector)}).getBoundingClientRect().toJSON()"
        at = self.ask(script)
        middle = ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2)
        points = [(at["x"] + x * at["width"], at["y"] + y * at["height"]) for x, y in (start, middle, end)]
        kinds = ("touchStart", "touchMove", "touchMove") if finger else MOUSE_DRAGS
        for kind, (x, y) in zip(kinds, points, strict=True):
            if finger:
                self.call("Input.dispatchTouchEvent", type=kind, touchPoints=[{"x": x, "y": y}])
            else:
                self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
        if finger:
            self.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
        else:
            self.call("Input.dispatchMouseEvent", type="mouseReleased", x=points[-1][0], y=points[-1][1],
                      button="left", clickCount=1)  # fmt: skip

    def press(self, key: str, *, shift: bool = False) -> None:
        wanted: dict[str, Any] = {"key": key, "code": key, "windowsVirtualKeyCode": KEYS[key]}
        wanted |= {"modifiers": 8} if shift else {}
        text = {"text": "\r"} if key == "Enter" else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", **wanted, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", **wanted)

    def choose_file(self, selector: str, *paths: Path) -> None:
        root = self.call("DOM.getDocument")["root"]["nodeId"]
        node = self.call("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        self.call("DOM.setFileInputFiles", nodeId=node, files=[str(path) for path in paths])

    # what a person sees

    def ask(self, script: str) -> Any:
        """Returns what the script gives in the page; awaits promises."""
        told = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in told:
            raise BrowserError(str(told["exceptionDetails"]))
        return told["result"].get("value")

    def await_(self, script: str, why: str = "") -> Any:
        """Waits until the script gives something true, and returns it."""
        found: Any = None

        def is_there() -> bool:
            nonlocal found
            found = self.ask(script)
            return bool(found) or found == {}  # an element has no value of its own

        try:
            wait_until(is_there, pause_s=0.05)
        except AssertionError:
            said = f"{why or script}; the page says: {self.text('body')[:3000]}; {self.console}"
            raise BrowserError(said) from None
        return found

    def text(self, selector: str) -> str:
        return str(self.ask(f"document.querySelector({json.dumps(selector)})?.innerText ?? ''"))

    def count(self, selector: str) -> int:
        return int(self.ask(f"document.querySelectorAll({json.dumps(selector)}).length"))

    def picture(self, path: Path) -> None:
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    # how it is asked

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        id = next(self._ids)
        message: dict[str, Any] = {"id": id, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._out, data) :]
        end = time.monotonic() + HANGS_S
        while (told := self._message(end)).get("id") != id:
            self._note(told)
        if "error" in told:
            raise BrowserError(f"{method}: {told['error']}")
        return dict(told["result"])

    def _note(self, told: dict[str, Any]) -> None:
        if told.get("method") == "Runtime.exceptionThrown":
            self.console.append(str(told["params"]["exceptionDetails"]))
        elif told.get("method") == "Log.entryAdded" and told["params"]["entry"]["level"] == "error":
            entry = told["params"]["entry"]
            if not entry.get("url", "").endswith("/favicon.ico"):  # Chromium's own wish, of any address
                self.console.append(f"{entry['text']} {entry.get('url', '')}")

    def _message(self, end: float) -> dict[str, Any]:
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._in], [], [], max(0.0, end - time.monotonic()))
            piece = os.read(self._in, 1 << 16) if ready else b""
            if not piece:
                raise BrowserError("Chromium does not answer.")
            self._rest += piece
        line, _, self._rest = self._rest.partition(b"\0")
        return dict(json.loads(line))

    def _middle(self, selector: str) -> tuple[float, float]:
        script = MIDDLE.replace("SELECTOR", json.dumps(selector))
        x, y = self.await_(script, f"{selector} is not to be seen")
        return float(x), float(y)
