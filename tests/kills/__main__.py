"""Kills each verb at random times, runs it to its end, and compares what readers find with an unbroken run.

    python -m tests.kills --kills 1000 [--seed 1] [--verb parse]

A try is a fresh OUT, one to three kills of the verb at times drawn over its usual length, then a run to the
end. The last line is JSON; the exit code is 1 if anything was lost, doubled or different.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pypdfium2 as pdfium
from PIL import Image, ImageDraw

import penstock
from tests.kills.verbs import Found, Verb, finished, started, verbs
from tests.support.hub_server import Hub

NUM_PAGES = 40
SAMPLE = Path(penstock.__file__).parent / "sample" / "sample.pdf"


def material(home: Path) -> dict[str, Path]:
    pages, photos = home / "pages", home / "photos"
    pages.mkdir()
    photos.mkdir()
    for name in ("one", "two"):
        document = pdfium.PdfDocument.new()
        for _ in range(NUM_PAGES // 2):
            document.new_page(200, 280)
        document.save(pages / f"{name}.pdf")
    for number in range(3):
        room = Image.new("RGB", (320, 320), (200, 200, 190))
        ImageDraw.Draw(room).rectangle((60, 80 + number, 220, 220), fill=(120, 70, 40))
        room.save(photos / f"room{number}.jpg")
    return {"pages": pages, "photos": photos, "sample": SAMPLE}


class Tries:
    """One verb: what an unbroken run gives, how long it takes, and OUT as it is before it."""

    def __init__(self, verb: Verb, home: Path, places: dict[str, Path], hub: Hub) -> None:
        self.verb, self._home, self._places, self._hub = verb, home / verb.name, places, hub
        self._home.mkdir()
        self._before = self._home / "before"
        for command in verb.needs:
            finished(command, {**places, "out": self._before}, {})
        out = self._fresh("whole")
        began = time.monotonic()
        finished(verb.command, {**places, "out": out}, verb.env, verb.module)
        self.seconds = time.monotonic() - began
        self.whole: Found = verb.found(out)
        assert self.whole, f"{verb.name} wrote nothing to compare"

    def once(self, chance: random.Random) -> tuple[int, int, str]:
        """Returns how many kills were sent, how many met a living process, and what is wrong."""
        out, places = self._fresh("out"), {**self._places, "out": self._home / "out"}
        sent = chance.randint(1, 3)
        met = sum(self._killed(places, chance.uniform(0.05, 1.05) * self.seconds) for _ in range(sent))
        try:
            finished(self.verb.command, places, self.verb.env, self.verb.module)
            found = self.verb.found(out)
        except Exception as exc:
            return sent, met, f"{type(exc).__name__}: {exc}"
        return sent, met, "" if found == self.whole else _difference(self.whole, found)

    def _fresh(self, name: str) -> Path:
        self._hub.repos.clear()
        out = self._home / name
        shutil.rmtree(out, ignore_errors=True)
        if self._before.exists():
            shutil.copytree(self._before, out)
        return out

    def _killed(self, places: dict[str, Path], after_s: float) -> bool:
        """Starts the verb and kills it. Returns whether it was still alive then."""
        process = started(self.verb.command, places, self.verb.env, self.verb.module)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(after_s)
        alive = process.poll() is None
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)
        process.wait(60)
        if process.stderr is not None:
            process.stderr.close()
        return alive


def _difference(whole: Found, found: Found) -> str:
    missing, more = sorted(whole.keys() - found.keys()), sorted(found.keys() - whole.keys())
    other = sorted(name for name in whole.keys() & found.keys() if whole[name] != found[name])
    return f"missing {missing[:3]}, more {more[:3]}, different {other[:3]}"


def run(
    kills: int, seed: int, names: Sequence[str] = (), seconds: float = math.inf
) -> tuple[Counter[str], list[str]]:
    """Kills the verbs of these names, or all. Returns counts, and what was wrong."""
    chance, counts, wrong = random.Random(seed), Counter[str](), list[str]()
    end = time.monotonic() + seconds
    with tempfile.TemporaryDirectory() as folder, Hub() as hub:
        home = Path(folder)
        places = material(home)
        chosen = [verb for verb in verbs(hub) if not names or verb.name in names]
        tries = [Tries(verb, home, places, hub) for verb in chosen]
        while counts["met"] < kills and time.monotonic() < end:
            for one in tries:
                sent, met, why = one.once(chance)
                counts.update({"sent": sent, "met": met, "runs": 1, one.verb.name: met})
                if why:
                    wrong.append(f"{one.verb.name}: {why}")
                    print(wrong[-1], flush=True)
    return counts, wrong


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=50, help="kills that met a living process")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--verb", action="append", default=[], help="only this one; repeatable")
    parser.add_argument("--seconds", type=float, default=math.inf, help="stop after these, whatever was met")
    options = parser.parse_args()
    counts, wrong = run(options.kills, options.seed, options.verb, options.seconds)
    print(json.dumps({**counts, "wrong": len(wrong)}))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
