"""Records a terminal: parse, Ctrl-C, the same command again, a search. Writes docs/img/terminal.svg.

    python tools/terminal_recording.py [docs/img/terminal.svg]

The commands are run for real, in a terminal of 80 columns, and the SVG shows what they wrote: nothing is set
by hand but the waits, which are cut to half a second. No script is in it; a style moves it, and whoever
wants no motion sees its end. tests/docs/test_recording.py runs the same commands and compares.
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

import penstock

TARGET = Path(__file__).resolve().parents[1] / "docs" / "img" / "terminal.svg"
SAMPLE = Path(penstock.__file__).parent / "sample" / "sample.pdf"
COLUMNS, LINES = 80, 24
PAGES, STOP_AT = 4, 2  # of the report, and how many are read when Ctrl-C comes
MIN_SHOWN_S, MAX_WAIT_S = 0.2, 0.5  # a picture is shown so long
TYPED_S, END_S = 0.04, 5.0  # a letter that is typed, the last picture
COMMAND_S = 240.0
PARSE = "penstock parse report.pdf -o out"
COMMANDS = (
    PARSE,
    PARSE,
    "penstock embed out -q",
    "penstock index out",
    "penstock search out 'how wide should a pipe be?' -k 2",
)
CONTROL = re.compile(r"\x1b\[([?0-9;]*)([A-Za-z])|\x1b\][^\x07]*\x07|\x1b.")
COLOURS = {
    "31": "#e06c75",
    "32": "#98c379",
    "33": "#e5c07b",
    "34": "#61afef",
    "35": "#c678dd",
    "36": "#56b6c2",
}
INK, SOFT, BACK = "#dcdfe4", "#8b929e", "#1e2127"

Cell = tuple[str, str]  # a letter and its style
Screen = tuple[tuple[Cell, ...], ...]


@dataclass
class Terminal:
    """As much of a terminal as a progress table and coloured lines need."""

    lines: list[list[Cell]] = field(default_factory=lambda: [[]])
    row: int = 0
    column: int = 0
    style: str = ""

    def write(self, text: str) -> None:
        place = 0
        for found in CONTROL.finditer(text):
            self._letters(text[place : found.start()])
            if found[2]:
                self._control(found[1], found[2])
            place = found.end()
        self._letters(text[place:])

    def screen(self) -> Screen:
        return tuple(tuple(line) for line in self.lines[-LINES:])

    def _letters(self, text: str) -> None:
        for letter in text:
            if letter == "\n":
                self._go_to(self.row + 1)
            elif letter == "\r":
                self.column = 0
            elif letter.isprintable():
                self._put(letter)

    def _go_to(self, row: int) -> None:
        self.row = max(0, row)
        while len(self.lines) <= self.row:
            self.lines.append([])

    def _put(self, letter: str) -> None:
        width = 2 if unicodedata.east_asian_width(letter) in "WF" else 1
        if self.column + width > COLUMNS:
            self._go_to(self.row + 1)
            self.column = 0
        line = self.lines[self.row]
        line += [(" ", "")] * (self.column + width - len(line))
        line[self.column] = (letter, self.style)
        if width == 2:
            line[self.column + 1] = ("", self.style)
        self.column += width

    def _control(self, numbers: str, name: str) -> None:
        if name == "A":
            self._go_to(self.row - int(numbers or 1))
        elif name == "K":
            del self.lines[self.row][0 if numbers == "2" else self.column :]
        elif name == "m":
            self.style = _styled(self.style, numbers)


def _styled(style: str, numbers: str) -> str:
    """A style as the words of `COLOURS` and "1" for bold, "2" for soft."""
    words = set(style.split())
    for number in (numbers or "0").split(";"):
        if number in ("0", ""):
            words.clear()
        elif number in ("1", "2"):
            words.add(number)
        elif number == "22":
            words -= {"1", "2"}
        elif number in COLOURS or number == "39":
            words -= set(COLOURS)
            words |= {number} & set(COLOURS)
    return " ".join(sorted(words))


@dataclass
class Recording:
    """Pictures of a terminal, each with how long it is shown."""

    terminal: Terminal = field(default_factory=Terminal)
    pictures: list[tuple[Screen, float]] = field(default_factory=list)

    def wait(self, seconds: float) -> None:
        """The last picture was shown so long. One that was shown for a moment only is left out."""
        if not self.pictures:
            return
        screen, shown = self.pictures.pop()
        if shown + seconds >= MIN_SHOWN_S:
            self.pictures.append((screen, min(MAX_WAIT_S, shown + seconds)))

    def show(self, text: str, seconds: float = 0.0) -> None:
        """Writes, and keeps the picture; one that is as the last only lasts longer."""
        self.terminal.write(text)
        screen = self.terminal.screen()
        if not self.pictures or self.pictures[-1][0] != screen:
            self.pictures.append((screen, seconds))

    def type(self, command: str) -> None:
        self.show("$ ", MAX_WAIT_S)
        for place in range(0, len(command), 5):
            self.show(command[place : place + 5], 5 * TYPED_S)
        self.show("\r\n", MAX_WAIT_S)


def record(folder: Path) -> Recording:
    """Runs the commands in `folder`. The first is stopped by Ctrl-C when some pages are read."""
    shutil.copyfile(SAMPLE, folder / "report.pdf")
    recording = Recording()
    for number, command in enumerate(COMMANDS):
        recording.type(command)
        stop = _some_are_read if number == 0 else _never
        for text, seconds in _output(command, folder, stop):
            recording.wait(seconds)
            recording.show(text)
        recording.wait(MAX_WAIT_S)
    recording.show("$ ", MAX_WAIT_S)
    return recording


def _some_are_read(text: str) -> bool:
    reached = re.findall(rf"(\d+) of {PAGES} pages", text)
    return bool(reached) and int(reached[-1]) >= STOP_AT


def _never(text: str) -> bool:
    return False


def _output(command: str, folder: Path, stop: Callable[[str], bool]) -> Iterator[tuple[str, float]]:
    """Yields what a command writes to a terminal and the seconds before it. Types Ctrl-C when `stop` says."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
    _keep_what_is_written(slave)
    settings = {**os.environ, "TERM": "xterm", "COLUMNS": str(COLUMNS), "LINES": str(LINES), "NO_COLOR": ""}
    words = ["sh", "-c", command.replace("penstock", f"exec '{sys.executable}' -m penstock", 1)]
    running = subprocess.Popen(
        words, cwd=folder, env=settings, stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # Ctrl-C reaches whoever has this terminal
    )  # fmt: skip
    os.close(slave)
    try:
        yield from _read(master, stop)
    finally:
        os.close(master)
        running.kill() if running.poll() is None and _is_late(running) else None
        running.wait(10)


def _keep_what_is_written(terminal: int) -> None:
    """At Ctrl-C a terminal throws away what nobody has read yet, half of a table that is drawn just then."""
    modes = termios.tcgetattr(terminal)
    modes[3] |= termios.NOFLSH
    termios.tcsetattr(terminal, termios.TCSANOW, modes)


def _is_late(running: subprocess.Popen[bytes]) -> bool:
    try:
        running.wait(10)
    except subprocess.TimeoutExpired:
        return True
    return False


def _read(master: int, stop: Callable[[str], bool]) -> Iterator[tuple[str, float]]:
    ends, last, told, rest = time.monotonic() + COMMAND_S, time.monotonic(), "", b""
    is_stopped = False
    while time.monotonic() < ends:
        if not select.select([master], [], [], 1.0)[0]:
            continue
        try:
            data = os.read(master, 65536)
        except OSError:  # the other end is closed
            return
        rest, text = _whole(rest + data)
        now = time.monotonic()
        yield text, now - last
        last, told = now, told + text
        if not is_stopped and stop(told):
            os.write(master, b"\x03")
            is_stopped = True


def _whole(data: bytes) -> tuple[bytes, str]:
    """Bytes of a letter or control that is not all there yet, and the text before them."""
    escape_at = data.rfind(b"\x1b")
    cut = (
        escape_at
        if escape_at >= 0 and not re.match(rb"\x1b\[[?0-9;]*[A-Za-z]", data[escape_at:])
        else len(data)
    )
    while True:
        try:
            return data[cut:], data[:cut].decode()
        except UnicodeDecodeError as exc:
            cut = exc.start


# the picture

LETTER, LINE, EDGE = 8.4, 18, 16  # pixels
_SVG = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" role="img"
 aria-label="A terminal: penstock parse, Ctrl-C, the same command again, a search">
<style>
text{{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;white-space:pre;fill:{ink}}}
.b{{font-weight:700}}.s{{fill:{soft}}}{colours}
g{{visibility:hidden;animation:{total:.2f}s steps(1) infinite}}
{frames}
@media (prefers-reduced-motion:reduce){{g{{animation:none!important}}g:last-of-type{{visibility:visible}}}}
</style>
<rect width="100%" height="100%" rx="8" fill="{back}"/>
{groups}
</svg>
"""


def svg(recording: Recording) -> str:
    """Returns the recording as one SVG: a group a picture, shown in turn by its own steps of an animation."""
    pictures = recording.pictures
    total = sum(seconds for _, seconds in pictures) + END_S
    frames, groups, begin = [], [], 0.0
    for number, (screen, seconds) in enumerate(pictures):
        end = total if number == len(pictures) - 1 else begin + seconds
        frames.append(_frame(number, 100 * begin / total, 100 * end / total))
        groups.append(f'<g id="f{number}">{_lines(screen)}</g>')
        begin = end
    colours = "".join(f".c{number}{{fill:{colour}}}" for number, colour in COLOURS.items())
    return _SVG.format(
        width=COLUMNS * LETTER + 2 * EDGE, height=LINES * LINE + 2 * EDGE, ink=INK, soft=SOFT, back=BACK,
        colours=colours, total=total, frames="\n".join(frames), groups="\n".join(groups),
    )  # fmt: skip


def _frame(number: int, begin: float, end: float) -> str:
    before = "" if begin == 0 else "0%{visibility:hidden}"
    after = "" if end >= 100 else f"{end:.3f}%{{visibility:hidden}}"
    steps = f"{before}{begin:.3f}%{{visibility:visible}}{after}"
    return f"#f{number}{{animation-name:k{number}}}@keyframes k{number}{{{steps}}}"


def _lines(screen: Screen) -> str:
    return "".join(
        f'<text x="{EDGE}" y="{EDGE + LINE * (place + 1) - 4}">{_pieces(line)}</text>'
        for place, line in enumerate(screen)
        if any(letter.strip() for letter, _ in line)
    )


def _pieces(line: tuple[Cell, ...]) -> str:
    """Returns a line as pieces of one style, each at its column, as other scripts have other widths."""
    shown, start = "", 0
    while start < len(line):
        style = line[start][1]
        end = start
        while end < len(line) and line[end][1] == style:
            end += 1
        text = "".join(letter for letter, _ in line[start:end])
        if text.strip():
            at = f' x="{EDGE + start * LETTER:.1f}"' if start else ""
            length = (end - start) * LETTER
            shown += (
                f'<tspan{at} textLength="{length:.1f}"{_class(style)}>{escape(text, quote=False)}</tspan>'
            )
        start = end
    return shown


def _class(style: str) -> str:
    names = {"1": "b", "2": "s"}
    words = " ".join(names.get(word, f"c{word}") for word in style.split())
    return f' class="{words}"' if words else ""


def text_of(screen: Screen) -> list[str]:
    """Returns the lines of a picture as they read."""
    return ["".join(letter for letter, _ in line).rstrip() for line in screen]


def main() -> None:
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else TARGET
    with tempfile.TemporaryDirectory(prefix="penstock-recording-") as folder:
        recording = record(Path(folder))
    target.write_text(svg(recording), "utf-8")
    print("\n".join(text_of(recording.pictures[-1][0])))
    print(f"{target}: {len(recording.pictures)} pictures, {target.stat().st_size // 1024} kB")


if __name__ == "__main__":
    main()
