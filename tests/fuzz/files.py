"""Files that strangers made, read as a run reads them: by the processes that are bounded."""

from __future__ import annotations

import io
import random
import re
import resource
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
from PIL import Image, ImageDraw

import penstock
from penstock.driver import Run
from penstock.executors.local import Local
from penstock.page import Page
from penstock.sources.listing import list_items
from penstock.store.schema import PAGES
from penstock.testing.fake_recipe import fake
from tests.engines.office import made_files
from tests.fuzz.mutations import mutated, mutated_inside
from tests.support.made_hwp3 import made_hwp3
from tests.support.made_hwpx import MadeCell, made_hwpx

MAX_BYTES = 300_000
PAGE_S = 20.0  # for a page; a hang would be a failed row that says so
INSIDE = 0.7  # of the ZIPs are changed inside a part: a changed byte of packed data only breaks its sum
SAMPLE = Path(penstock.__file__).parent / "sample" / "sample.pdf"
# files that say themselves what they hold; some are only in a folder that is given
OFFICE = (
    "docx", "pptx", "xlsx", "odt", "ods", "odp", "hwpx", "hwp", "epub", "doc", "ppt", "xls", "msg", "eml",
    "html", "rtf",
)  # fmt: skip
PICTURES = ("png", "jpeg", "gif", "webp", "tiff", "bmp")


@dataclass
class Account:
    """What became of the files."""

    files: int = 0
    pages: int = 0
    failed: int = 0
    lost: list[str] = field(default_factory=list)
    hung: list[str] = field(default_factory=list)


def seeds(folder: Path | None = None) -> dict[str, list[bytes]]:
    """Returns files that are right, by ending: made here, and those of `folder` where one is given."""
    picture = _picture()
    found = {kind: [_encoded(picture, kind)] for kind in PICTURES}
    found["pdf"] = [SAMPLE.read_bytes(), _encoded(picture, "pdf")]
    found["parquet"], found["arrow"] = [_parquet(picture)], [_arrow(picture)]
    found.update({kind: [] for kind in OFFICE})
    for kind in ("pptx", "xlsx", "odt", "epub"):
        found[kind].append(getattr(made_files, kind)())
    found["hwpx"] += [made_files.hwpx(), made_hwpx(["# 머리", "본문이다.", [MadeCell(0, 0, "칸", 2)]])]
    found["hwp"].append(made_hwp3(["Rain falls.", "비가 온다."]))
    for path in sorted(folder.rglob("*")) if folder else []:
        ending = path.suffix.lower().lstrip(".").replace("jpg", "jpeg")
        if path.is_file() and ending in found and path.stat().st_size <= MAX_BYTES:
            found[ending].append(path.read_bytes())
    return {kind: files for kind, files in found.items() if files}


def read_mutated(home: Path, chance: random.Random, right: dict[str, list[bytes]], count: int) -> Account:
    """Reads `count` mutated files in one run, and tells what became of each."""
    folder = home / "in"
    folder.mkdir(parents=True)
    for number in range(count):
        ending = chance.choice(list(right))
        change = mutated_inside if chance.random() < INSIDE else mutated
        (folder / f"{number:05d}.{ending}").write_bytes(change(chance, right[ending], MAX_BYTES))
    return accounted(folder, home / "out", count)


def accounted(folder: Path, out: Path, count: int) -> Account:
    """Reads every file of the folder, each named by itself: each must have a row, good or failed."""
    files = sorted(str(path) for path in folder.iterdir())
    run = Run(fake(page_timeout=PAGE_S), Local(), out, PAGES)
    account, seen = Account(files=count), set[str]()
    for page in run.items(list_items(files, Page)):
        seen.update(re.findall(r"/in/(\d{5})\.", page.uri))
        account.pages += page.failure is None
        account.failed += page.failure is not None
        if page.failure is not None and page.failure.kind == "DeadlinePassed":
            account.hung.append(page.uri)
    account.lost = sorted({Path(name).name[:5] for name in files} - seen)
    return account


def _picture() -> Image.Image:
    """A page of a few words and lines."""
    picture = Image.new("RGB", (420, 300), "white")
    pen = ImageDraw.Draw(picture)
    for row in range(8):
        pen.text((20, 20 + 32 * row), f"line {row} of a page", "black")
    pen.rectangle((200, 40, 400, 200), outline="blue", width=3)
    return picture


def _encoded(picture: Image.Image, kind: str) -> bytes:
    target = io.BytesIO()
    more = [picture.rotate(180)] if kind in ("gif", "tiff", "pdf") else []
    frames = {"save_all": True, "append_images": more} if more else {}
    picture.save(target, kind.upper(), **frames)
    return target.getvalue()


def _table(picture: Image.Image) -> pa.Table:
    return pa.table({"id": ["a", "b"], "image": [_encoded(picture, "png"), _encoded(picture, "jpeg")]})


def _parquet(picture: Image.Image) -> bytes:
    target = io.BytesIO()
    pq.write_table(_table(picture), target)
    return target.getvalue()


def _arrow(picture: Image.Image) -> bytes:
    target = io.BytesIO()
    pyarrow.feather.write_feather(_table(picture), target, compression="uncompressed")
    return target.getvalue()


def most_memory_mb() -> float:
    """Returns the most memory that a child of ours has had."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
