"""Where a row of a data set is, as its page's uri says it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, unquote


@dataclass(frozen=True, slots=True)
class ShardRef:
    """Where a row is: its shard, the shard's first row counted over the dataset, the picture's column."""

    path: Path
    first: int
    column: str

    @property
    def uri(self) -> str:
        return f"{self.path}#{self.first}:{quote(self.column, safe='')}"

    @classmethod
    def parse(cls, uri: str) -> ShardRef:
        path, _, where = uri.rpartition("#")
        first, _, column = where.partition(":")
        return cls(Path(path), int(first), unquote(column))
