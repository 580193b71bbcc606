"""Files of PyTorch are read without PyTorch, and what is in them runs nothing."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import pytest

from penstock.errors import OpenError
from tests.tools.models import tool

read_tensors = tool("torch_file").read_tensors
DICTIONARY = b"ccollections\nOrderedDict\n)R"


def _pickled(rows: int, columns: int, function: bytes = b"ctorch._utils\n_rebuild_tensor_v2\n") -> bytes:
    """A state dictionary with the tensor `a` of six numbers, as torch.save writes it."""
    storage = b"(X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpuK\x06tQ"
    shape = bytes([0x4B, rows, 0x4B, columns, 0x86])
    return (
        b"\x80\x02" + DICTIONARY + b"(X\x01\x00\x00\x00a" + function + b"(" + storage + b"K\x00" + shape
        + bytes([0x4B, columns, 0x4B, 1, 0x86]) + b"\x89" + DICTIONARY + b"tRu."
    )  # fmt: skip


def _file(path: Path, pickled: bytes) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("net/data.pkl", pickled)
        archive.writestr("net/data/0", np.arange(6, dtype="<f4").tobytes())
    return path


def test_tensors_are_read_by_name(tmp_path: Path) -> None:
    tensors = read_tensors(_file(tmp_path / "net.pt", _pickled(2, 3)))
    assert tensors["a"].tolist() == [[0, 1, 2], [3, 4, 5]]


@pytest.mark.parametrize("function", [b"cos\nsystem\n", b"cbuiltins\neval\n", b"ctorch\nload\n"])
def test_a_pickle_that_would_run_something_is_refused(tmp_path: Path, function: bytes) -> None:
    with pytest.raises(OpenError, match="holds no tensors"):
        read_tensors(_file(tmp_path / "net.pt", _pickled(2, 3, function)))


def test_a_tensor_outside_of_its_numbers_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OpenError):
        read_tensors(_file(tmp_path / "net.pt", _pickled(3, 3)))
    (tmp_path / "text.pt").write_text("not a ZIP", "utf-8")
    with pytest.raises(OpenError):
        read_tensors(tmp_path / "text.pt")
