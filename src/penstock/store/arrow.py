"""Starts pyarrow without pandas."""

from __future__ import annotations

import sys
from importlib.abc import MetaPathFinder
from typing import Any


class _NoPandas(MetaPathFinder):
    """Says that pandas is not installed."""

    def find_spec(self, name: str, *_: Any) -> None:
        if name == "pandas":
            raise ModuleNotFoundError(name)


def leave_pandas_out() -> None:
    """Keeps pyarrow from loading pandas with its first array, which takes half a second.

    For our command alone: in somebody's program pyarrow may be given pandas' own columns, and it would no
    longer know them. Later calls that need pandas (`to_pandas`) still get it.
    """
    if "pandas" in sys.modules:
        return
    import pyarrow

    absent = _NoPandas()
    sys.meta_path.insert(0, absent)
    try:
        pyarrow.array([])
    finally:
        sys.meta_path.remove(absent)
