"""objects.jsonl, splats and the report: what `penstock volumes` leaves for people and programs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path

from penstock.exports.inventory import failed_row, object_row, read_inventory
from penstock.exports.photo_report import report
from penstock.photo import Photo
from penstock.photos.gaussians import Gaussians
from penstock.photos.ply import read_ply, write_splat
from penstock.photos.turntable import turntable
from penstock.store.atomic_files import replacing
from penstock.store.out import Out

OBJECTS, REPORT, SPLATS, TURNTABLES = "objects.jsonl", "report.html", "splats", "turntables"


def write_objects(out: Out, items: Iterable[Photo]) -> list[Path]:
    found = read_inventory(out, items)
    path = out / OBJECTS
    with replacing(path, out) as file:
        rows = [object_row(line) for line in found.lines] + [failed_row(item) for item in found.failed]
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
    return [path]


def write_splats(out: Out, items: Iterable[Photo]) -> list[Path]:
    """Every cloud again as .splat, for web viewers."""
    return _write_clouds(out, items, f"{SPLATS}/{{}}.splat", write_splat)


def write_turntables(out: Out, items: Iterable[Photo]) -> list[Path]:
    """Every cloud as a turning GIF."""
    return _write_clouds(out, items, f"{TURNTABLES}/{{}}.gif", turntable)


def _write_clouds(
    out: Out, items: Iterable[Photo], place: str, made: Callable[[Gaussians], bytes]
) -> list[Path]:
    paths = []
    for thing in (thing for item in items for thing in item.objects if thing.cloud_path):
        source = out / str(thing.cloud_path)
        path = out / place.format(source.stem)
        with replacing(path, out, sync=False) as file:
            file.write(made(read_ply(source.read_bytes())))
        paths.append(path)
    return paths


def write_report(out: Out, items: Iterable[Photo]) -> list[Path]:
    path = out / REPORT
    page = report(out, list(items))
    with replacing(path, out) as file:
        file.write(page.encode("utf-8", "replace"))
    return [path]
