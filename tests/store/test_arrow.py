"""Our command does not load pandas to write a table; a program that wants pandas still gets it."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytest.importorskip("pandas")

PROGRAM = """
import sys
from penstock.store.arrow import leave_pandas_out
leave_pandas_out()
import pyarrow
table = pyarrow.Table.from_pylist([{"a": 1}])
assert "pandas" not in sys.modules
assert table.to_pandas()["a"].tolist() == [1]
"""


def test_a_table_is_made_without_pandas_and_becomes_pandas_when_asked() -> None:
    subprocess.run([sys.executable, "-c", PROGRAM], check=True, timeout=60)
