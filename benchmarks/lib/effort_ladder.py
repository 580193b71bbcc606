"""Measures the CPU time of whole runs of `penstock parse`, effort by effort, another tree beside them."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import cv2
import pypdfium2 as pdfium

from benchmarks.lib.common import DATA, REPOSITORY, all_cpu_s, write_scans

TIMEOUT_S = 1800.0


@dataclass(frozen=True, slots=True)
class Rung:
    """One way to read: an effort of this tree, or another tree as it is."""

    name: str
    source: Path
    effort: str | None

    def page_s(self, pictures: Sequence[Path]) -> float:
        """CPU seconds of one more page, without the start of the processes and of the networks."""
        return (self.cpu_s(pictures) - self.cpu_s(pictures[:1])) / (len(pictures) - 1)

    def cpu_s(self, pictures: Sequence[Path]) -> float:
        """User and system seconds of all processes of one run, its start with them."""
        command = [sys.executable, "-m", "penstock", "parse", *map(str, pictures), "-q", "--no-crops"]
        command += ["--effort", self.effort] if self.effort else []
        with tempfile.TemporaryDirectory() as out:
            before = all_cpu_s()
            subprocess.run(
                [*command, "-o", f"{out}/out"],
                env={**os.environ, "PYTHONPATH": str(self.source)},
                check=True,
                timeout=TIMEOUT_S,
            )
            return all_cpu_s() - before


def rungs(before: Path | None) -> list[Rung]:
    own = REPOSITORY / "src"
    efforts = [Rung(effort, own, effort) for effort in ("best", "balanced", "fast")]
    return [*([Rung("before", before / "src", None)] if before else []), *efforts]


def page_sets(room: Path, count: int) -> dict[str, list[Path]]:
    """Pictures of pages by set: the sample's, and those of the test data that are here, evenly picked."""
    korean = DATA / "korean_text" / "project-history.ko.pdf"
    sets = {
        "sample": write_scans(room / "sample", count),
        "omnidocbench": sorted((DATA / "omnidocbench_demo" / "images").glob("*.jpg")),
        "receipts": sorted((DATA / "sroie_sample" / "img").glob("*.jpg")),
        "korean": _rendered(korean, room / "korean") if korean.is_file() else [],
    }
    return {name: paths[:: -(-len(paths) // count)] for name, paths in sets.items() if paths}


def _rendered(pdf: Path, folder: Path) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    document, paths = pdfium.PdfDocument(pdf), []
    for number in range(1, len(document)):  # the first is a title
        paths.append(folder / f"page{number:03d}.png")
        cv2.imwrite(str(paths[-1]), document[number].render(scale=200 / 72).to_numpy()[:, :, :3])
    return paths


def ladder(before: Path | None, count: int, names: Sequence[str]) -> dict[str, dict[str, float]]:
    """Pages a second of one core, by set and rung; the rungs of a set run one after the other."""
    found: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as room:
        for name, pictures in page_sets(Path(room), count).items():
            if names and name not in names:
                continue
            found[name] = {rung.name: 1 / rung.page_s(pictures) for rung in rungs(before)}
            said = ", ".join(f"{rung} {speed:.3f}" for rung, speed in found[name].items())
            print(f"{name}, {len(pictures)} pages: pages a second a core: {said}", flush=True)
    return found
