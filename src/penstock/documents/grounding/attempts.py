"""What a recipe wants remembered of a page beside its regions: the attempts and the raw answer.

It travels as the page's last region, a tiny piece of furniture with `reader` "record" whose file is JSON:
so every attempt is in the ledger and the raw answer is a file named by its content.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Any

from penstock.item import Failure, Region

READER = "record"
FOLDER = "raw"


@dataclass(frozen=True, slots=True)
class Tried:
    """One attempt at a page."""

    way: str
    finish_reason: str
    prompt_tokens: int = 0
    completion_tokens: int = 0
    ms: float = 0.0
    issues: tuple[str, ...] = ()
    text: str = ""


def record_region(tried: list[Tried], failure: Failure | None = None) -> Region:
    """The region that carries the attempts. `failure` reopens the page with --retry-failed."""
    data = json.dumps([asdict(each) for each in tried], ensure_ascii=False).encode("utf-8", "replace")
    name = hashlib.sha256(data).hexdigest()[:24]
    return Region(
        label="aside_text",
        box=(0.0, 0.0, 1.0, 1.0),
        reader=READER,
        # the attempts without their texts, so that readers need no second file; not `content`, which
        # embedders and searches read
        note=json.dumps([_brief(each) for each in tried], ensure_ascii=False),
        crop=data,
        crop_path=f"{FOLDER}/{name}.json",
        failure=failure,
    )


def _brief(tried: Tried) -> dict[str, Any]:
    row = asdict(tried)
    del row["text"]
    row["issues"] = list(tried.issues)
    return row


def attempts_of(region: Region) -> list[dict[str, Any]]:
    """The attempts a record region carries; none where it is not one of ours."""
    try:
        rows = json.loads(region.note or "[]")
    except ValueError:
        return []
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
