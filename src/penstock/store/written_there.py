"""Rows that each machine of a run publishes itself, where OUT is on an object store.

The machine has no mirror of what others wrote: a shard goes there with its crops and is then deleted here.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penstock.item import Item
from penstock.processes.scratch import scratch_folder
from penstock.redaction import SafeRepr
from penstock.store.ledger import ShardWriter
from penstock.store.remote import Mirror
from penstock.store.schema import Rows


@dataclass(frozen=True)
class ShardsThere(SafeRepr):
    """Opens a writer to the OUT at `address`; pickles."""

    address: str
    rows: Rows[Any]

    def open(self) -> ShardWriter[Item]:
        mirror = Mirror(self.address, scratch_folder("shards"))

        def publish(files: list[Path]) -> None:
            mirror.create(files)
            for path in files:
                path.unlink(missing_ok=True)

        return ShardWriter(mirror.path, self.rows, on_commit=publish)
