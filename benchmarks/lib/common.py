"""Writes sample pages as scans and as long PDFs, measures memory and time, prints the last line."""

from __future__ import annotations

import json
import os
import platform
import resource
import statistics
import threading
import time
from pathlib import Path
from types import TracebackType
from typing import Any

import cv2
import psutil
import pypdfium2 as pdfium

import penstock
from penstock.processes.resources import cores

REPOSITORY = Path(__file__).resolve().parents[2]
SAMPLE = Path(penstock.__file__).parent / "sample" / "sample.pdf"
# the test data that we may not ship; scripts say what they leave out where it is not there
DATA = Path(os.environ.get("PENSTOCK_DATA", REPOSITORY.parent / "shared" / "data"))


def write_scans(folder: Path, count: int, dpi: int = 200) -> list[Path]:
    """Writes `count` PNG pictures of sample pages, each shifted a little so that no two are the same."""
    document = pdfium.PdfDocument(SAMPLE)
    pages = [document[n].render(scale=dpi / 72).to_numpy()[:, :, :3] for n in range(len(document))]
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for number in range(count):
        page = pages[number % len(pages)]
        shifted = cv2.copyMakeBorder(page, number, 0, number, 0, cv2.BORDER_REPLICATE)
        path = folder / f"scan{number:04d}.png"
        cv2.imwrite(str(path), shifted)
        paths.append(path)
    return paths


def write_long_pdf(path: Path, count: int, pages: tuple[int, ...] = (0, 1, 2)) -> Path:
    """Writes a born-digital PDF of `count` pages, the sample's `pages` over and over."""
    source = pdfium.PdfDocument(SAMPLE)
    target = pdfium.PdfDocument.new()
    target.import_pages(source, [pages[n % len(pages)] for n in range(count)])
    target.save(path)
    return path


def all_cpu_s() -> float:
    """User and system seconds of this process and of those that it started and that have ended."""
    spent = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(used.ru_utime + used.ru_stime for used in spent)


class PeakMemory:
    """The most memory (RSS) that this process and its children had together, in MB."""

    def __init__(self, every_s: float = 0.2) -> None:
        self.mb = 0.0
        self._every_s = every_s
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="peak-memory", daemon=True)

    def __enter__(self) -> PeakMemory:
        self._thread.start()
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._ended.wait(self._every_s):
            self.mb = max(self.mb, memory_mb())


def memory_mb() -> float:
    """The memory of this process and its children now."""
    own = psutil.Process()
    total = 0
    for process in [own, *own.children(recursive=True)]:
        try:
            total += process.memory_info().rss
        except psutil.NoSuchProcess:
            continue
    return total / 2**20


def timed(function: Any, *arguments: Any) -> tuple[float, Any]:
    """Seconds of the call, and its result."""
    began = time.perf_counter()
    result = function(*arguments)
    return time.perf_counter() - began, result


def spread(values: list[float]) -> dict[str, float]:
    return {"median": statistics.median(values), "min": min(values), "max": max(values)}


def finish(name: str, **figures: Any) -> None:
    """Prints the last line: JSON, for programs."""
    machine = {"machine": platform.machine(), "cores": cores(), "python": platform.python_version()}
    print(json.dumps({"benchmark": name, **figures, **machine, "penstock": penstock.__version__}))
