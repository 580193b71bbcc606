"""Patterns of a stranger's schema, matched in time that grows with the text alone.

Arrow brings RE2, which never goes back; Python's own `re` can be made to run for ever.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

MAX_PATTERN = 1_000  # characters


def check_pattern(pattern: str) -> str:
    """Returns why a pattern cannot be used; "" for one that can."""
    if len(pattern) > MAX_PATTERN:
        return f"it has more than {MAX_PATTERN} characters."
    try:
        matching(pattern, [""])
    except pa.ArrowInvalid as exc:
        return f"{str(exc).splitlines()[0]}. References back and looks ahead are not known."
    return ""


def matching(pattern: str, texts: Sequence[str]) -> list[bool]:
    """Returns for each text whether the pattern is found in it, as JSON Schema has it."""
    found: list[bool] = pc.match_substring_regex(pa.array(texts, pa.string()), pattern=pattern).to_pylist()
    return found
