"""Measures the things in photos for `penstock volumes`, and shows what came of it."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from penstock.cli.running.progress import progress
from penstock.driver import Run
from penstock.exports.export import check_formats, export
from penstock.exports.inventory import (
    Inventory,
    InventoryLine,
    failures,
    handling,
    how_measured,
    likely,
    object_row,
    photo_name,
    read_inventory,
)
from penstock.passes.photo_words import photo_options
from penstock.passes.photos import naming_advice, photos_work
from penstock.photo import Photo
from penstock.photos.furniture import FT3_PER_M3
from penstock.store.arrow import leave_pandas_out
from penstock.store.out import Out


def measure(
    photos: list[str], given: Mapping[str, Any], out: Path, formats: list[str], *, as_json: bool, quiet: bool
) -> None:
    """Measures the photos into OUT, writes the files, and sets the exit code."""
    leave_pandas_out()
    check_formats(formats)
    work = photos_work(photo_options(photos, given), out)
    work.finish(progress(quiet or as_json))
    for photo in work.missed:
        print(
            f"penstock: no photo is called {photo}: its --box, --depth or --known was not used.",
            file=sys.stderr,
        )
    _finish(work.run, formats, as_json, quiet)
    if work.missed:
        raise typer.Exit(1)


def _finish(run: Run[Photo], formats: list[str], as_json: bool, quiet: bool) -> None:
    written = export(run.out, formats)
    out = Out(run.out)
    found = read_inventory(out, out.read_photos())
    if as_json:
        print(json.dumps(_summary(run, found, written), ensure_ascii=False))
    else:
        for name, reason in failures(found):
            print(f"failed: {name}: {reason}", file=sys.stderr)
        if not quiet:
            _tell(found, written, naming_advice(found, run.plan))
    if failures(found):  # also those of earlier runs: they are listed, and the totals lack them
        raise typer.Exit(1)


def _summary(run: Run[Photo], found: Inventory, written: list[Path]) -> dict[str, Any]:
    return {
        "out": str(run.out),
        "photos": run.tally.done,
        "failed": run.tally.failed,
        "failed_objects": run.tally.failed_regions,
        "skipped": run.tally.skipped,
        "failures": [{"photo": name, "reason": reason} for name, reason in failures(found)],
        "objects": [object_row(line) for line in found.lines],
        "total_cbm": round(found.boxes.cbm, 3),
        "moving_cbm": round(found.moving.cbm, 3),
        "moving_range_cbm": [round(found.moving.low, 3), round(found.moving.high, 3)],
        **handling(found),
        "written": [str(path) for path in written],
    }


def _tell(found: Inventory, written: list[Path], naming: str) -> None:
    table = Table(box=None, pad_edge=False)
    for name in ("no.", "item", "photo", "W x D x H m", "m³", "ft³", "likely m³", "how"):
        table.add_column(name, justify="right" if name in ("no.", "m³", "ft³") else "left")
    for line in found.lines:
        table.add_row(*_cells(line))
    console = Console(width=None if sys.stdout.isatty() else 140, highlight=False)
    if found.lines:
        console.print(table)
    for photo in found.empty:
        advice = f"Nothing was found in {photo}: say where a thing is, by --box '{photo}=x,y,w,h:label'."
        console.print(advice, markup=False, soft_wrap=True)
    twice = [f"{line.number} like {line.looks_like}" for line in found.lines if line.looks_like]
    if twice:
        console.print(f"Counted twice? {', '.join(twice)}. If the photos show one room, add --same-room.")
    if naming:
        console.print(naming, markup=False, soft_wrap=True)
    console.print(_totals(found))
    plan = handling(found)
    if plan["truck"]:
        console.print(f"About {plan['weight_kg']} kg, {plan['cartons']} cartons, truck {plan['truck']}.")
    for path in written[:3]:
        console.print(f"  {path}", soft_wrap=True, markup=False)


def _totals(found: Inventory) -> str:
    moving = found.moving
    if not any(line.counted for line in found.lines):
        return "Nothing was measured."
    unsure = ", unsure" if moving.is_unsure else ""
    return (
        f"To move: {moving.cbm:.2f} m³ ({moving.cbm * FT3_PER_M3:.0f} ft³),"
        f" likely {moving.low:.2f} to {moving.high:.2f} m³{unsure}; boxes as they stand"
        f" {found.boxes.cbm:.2f} m³."
    )


def _cells(line: InventoryLine) -> list[str]:
    thing = line.thing
    head = [str(line.number), escape(thing.label), escape(photo_name(line.item))]
    if thing.failure is not None:
        return [*head, "failed", "", "", "", ""]
    if thing.size is None or thing.bbox_cbm is None:
        return [*head, "", "", "", "", ""]
    size = " x ".join(f"{side:.2f}" for side in thing.size)
    volume = [f"{thing.bbox_cbm:.2f}", f"{thing.bbox_cbm * FT3_PER_M3:.1f}", likely(thing)]
    return [*head, size, *volume, how_measured(line)]
