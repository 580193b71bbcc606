"""Checks a run for `penstock check`, and shows what is damaged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import typer

from penstock.errors import UsageError
from penstock.store.check import Checkup, Damage, check_out, set_aside
from penstock.trace.phrases import plural

SHOWN = 10


def check_run(out: Path, repair: bool, as_json: bool) -> None:
    """Shows what of OUT is damaged, sets it aside if `repair`, and sets the exit code."""
    if not out.is_dir():
        raise UsageError(f"{out} does not exist.", "Name the folder of a run.")
    found = check_out(out)
    moved = set_aside(out, found.damages) if repair and found.damages else []
    print(json.dumps(_row(out, found, moved), ensure_ascii=False) if as_json else _words(out, found, moved))
    if len(moved) < len(found.damages):
        raise typer.Exit(1)


def _row(out: Path, found: Checkup, moved: list[Path]) -> dict[str, Any]:
    return {
        "shards": found.shards,
        "rows": found.rows,
        "damaged": [
            {"path": str(one.path.relative_to(out)), "reason": one.reason, "pages": one.pages}
            for one in found.damages
        ],
        "missing_files": found.missing,
        "set_aside": [str(path.relative_to(out)) for path in moved],
    }


def _words(out: Path, found: Checkup, moved: list[Path]) -> str:
    lines = [f"{out}: {plural(found.rows, 'row')} in {plural(found.shards, 'shard')}"]
    for damage in found.damages:
        lines += [f"damaged: {damage.reason}", *_pages(damage)]
    if found.missing:
        what = plural(len(found.missing), "file that a row names is", "files that rows name are")
        lines.append(f"missing: {what} not there, first {found.missing[0]}")
    lines += [f"set aside: {path}" for path in moved]
    if moved:
        lines.append("Run the same command as before: it reads the pages that are gone again.")
    elif any(damage.ours for damage in found.damages):
        lines.append(f"Run: penstock check {out} --repair")
    elif not found.missing and not found.damages:
        lines.append("All of it is whole.")
    return "\n".join(lines)


def _pages(damage: Damage) -> list[str]:
    if damage.path.suffix != ".parquet":
        return []
    if damage.pages is None:
        return ["  which pages it held cannot be read"]
    if not damage.pages:
        return ["  all of its pages are in other shards, too"]
    more = f" and {len(damage.pages) - SHOWN:,} more" if len(damage.pages) > SHOWN else ""
    return [f"  gone: {', '.join(damage.pages[:SHOWN])}{more}"]
