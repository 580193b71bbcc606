"""Tells what of an OUT is whole, what is not and which pages are gone; sets aside what is damaged.

What is set aside is kept below OUT/damaged. The next run finds its pages missing and reads them again.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from penstock.errors import PenstockError, StoreError
from penstock.store import manifest
from penstock.store.atomic_files import store_errors, sync_folder
from penstock.store.contents import CORRECTIONS, FOLDERS, OURS
from penstock.store.ledger import FAILURES_DIR, ITEMS_DIR
from penstock.store.lock import holding
from penstock.store.ownership import claim, is_ours
from penstock.store.shard_names import shards_in
from penstock.store.shards import key_problem, read_shard
from penstock.store.source_order import order_files, read_documents

DAMAGED = "damaged"  # below OUT
# columns that name files below OUT: of a list of structs, or of the row itself
NAMED_IN_LISTS = (
    ("regions", "crop_path"),
    *(("objects", f"{what}_path") for what in ("mask", "cloud", "mesh")),
)


@dataclass(frozen=True, slots=True)
class Damage:
    """A file that is not whole. `pages` are the ids in it that no other shard has, where they can be read.

    `ours` is False for what Penstock did not make: a repair leaves it alone.
    """

    path: Path
    reason: str
    pages: tuple[str, ...] | None = None
    ours: bool = True


@dataclass(frozen=True, slots=True)
class Checkup:
    """What a check found."""

    shards: int
    rows: int
    damages: tuple[Damage, ...]
    missing: tuple[str, ...]  # files that rows name and that are not there


def check_out(out: Path) -> Checkup:
    """Reads all of OUT's ledger, with checksums. Changes nothing."""
    whole: set[str] = set()
    named: set[str] = set()
    damaged: list[tuple[Path, str]] = []
    rows = 0
    shards = list(_shards(out))
    for shard in shards:
        try:
            table = read_shard(shard)
        except StoreError as exc:
            damaged.append((shard, exc.message))
            continue
        if problem := key_problem(table):
            damaged.append((shard, f"{shard} is no shard: {problem}."))
            continue
        rows += table.num_rows
        whole.update(table["id"].to_pylist())
        named.update(_named_files(table))
    found = [Damage(shard, reason, _lost(shard, whole)) for shard, reason in damaged]
    found += _torn_corrections(out)
    missing = sorted(name for name in named if not (out / name).is_file())
    return Checkup(len(shards), rows, (*_descriptions(out), *found), tuple(missing))


def _torn_corrections(out: Path) -> Iterator[Damage]:
    for shard in shards_in(out / CORRECTIONS):
        try:
            read_shard(shard)
        except StoreError as exc:
            yield Damage(shard, exc.message, ())


def set_aside(out: Path, damages: tuple[Damage, ...]) -> list[Path]:
    """Moves what is damaged to OUT/damaged, under OUT's lock. Returns where it is now."""
    with holding(out), store_errors(out / DAMAGED):
        return [_moved(damage.path, out) for damage in damages if damage.ours]


def _moved(path: Path, out: Path) -> Path:
    target = out / DAMAGED / "-".join(path.relative_to(out).parts)
    claim(out, target)
    (out / DAMAGED).mkdir(exist_ok=True)
    path.replace(target)
    sync_folder(path.parent)
    sync_folder(target.parent)
    return target


def _shards(out: Path) -> Iterator[Path]:
    """Yields the shards of OUT and of the passes below it."""
    for pattern in ("", "*/", "*/*/"):
        for folder in (FAILURES_DIR, ITEMS_DIR):
            for place in sorted(out.glob(f"{pattern}{folder}")):
                yield from shards_in(place)


def _descriptions(out: Path) -> Iterator[Damage]:
    """Yields run.json and documents.jsonl where they cannot be read, and what is in the place of others."""
    for name in OURS:
        path = out / name
        if not os.path.lexists(path):
            continue
        if path.is_symlink() or path.is_dir() != (name in FOLDERS):
            kind = "folder" if name in FOLDERS else "file"
            advice = "Move it away; Penstock did not make it."
            yield Damage(path, f"{path} is in the place of a {kind}. {advice}", ours=False)
    readers: list[tuple[Path, Callable[[], object]]] = [(out / manifest.RUN, partial(manifest.read, out))]
    readers += [(path, partial(read_documents, path)) for path in order_files(out)]
    for path, read in readers:
        try:
            read()
        except manifest.OtherFormat:
            raise  # no damage: another version may read it
        except PenstockError as exc:
            yield Damage(path, exc.message, ours=is_ours(out, path))


def _lost(shard: Path, whole: set[str]) -> tuple[str, ...] | None:
    """Returns the ids that only this shard has; None if not even those can be read."""
    try:
        ids = read_shard(shard, ["id"])["id"].to_pylist()
    except (StoreError, KeyError):
        return None
    return tuple(id for id in ids if id not in whole)


def _named_files(table: pa.Table) -> set[str]:
    """Returns the crops, masks, clouds, meshes and answers that rows name."""
    names: set[str | None] = set()
    for column, field in NAMED_IN_LISTS:
        if column in table.column_names:
            parts = pc.list_flatten(table[column])
            names.update(pc.struct_field(parts, field).unique().to_pylist())
    if "raw_answer_path" in table.column_names:
        names.update(table["raw_answer_path"].unique().to_pylist())
    return {name for name in names if name}
