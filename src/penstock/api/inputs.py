"""What verbs read: one name or several."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

Inputs = str | Path | Sequence[str | Path]


def names_of(inputs: Inputs) -> tuple[str, ...]:
    """Returns the inputs as a tuple of names."""
    return tuple(str(name) for name in ([inputs] if isinstance(inputs, str | Path) else inputs))
