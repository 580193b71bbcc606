"""Reads the tensors of a PyTorch file without PyTorch.

The file is a ZIP of a pickle and raw numbers. The pickle may name four things and no others: it runs nothing.
"""

from __future__ import annotations

import pickle
import zipfile
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from penstock.errors import OpenError

Array = NDArray[Any]
KINDS: dict[str, np.dtype[Any]] = {"FloatStorage": np.dtype("<f4"), "LongStorage": np.dtype("<i8")}


def read_tensors(path: Path) -> dict[str, Array]:
    """Returns a state dictionary's tensors by name. Raises OpenError for a file that is none."""
    try:
        with zipfile.ZipFile(path) as archive:
            pickled = next(name for name in archive.namelist() if name.endswith("/data.pkl"))
            reader = _TensorReader(archive, pickled.removesuffix("data.pkl"))
            with archive.open(pickled) as file:
                return dict(_unpickler(file, reader).load())
    except (
        zipfile.BadZipFile,
        pickle.UnpicklingError,
        StopIteration,
        LookupError,
        TypeError,
        ValueError,
    ) as exc:
        raise OpenError(f"{path} holds no tensors of PyTorch.", "Run: penstock models verify") from exc


class _TensorReader:
    """Gives the pickle its numbers."""

    def __init__(self, archive: zipfile.ZipFile, folder: str) -> None:
        self._archive, self._folder = archive, folder

    def storage(self, found: tuple[Any, ...]) -> Array:
        _, kind, key, *_ = found
        return np.frombuffer(self._archive.read(f"{self._folder}data/{key}"), kind)


def _tensor(
    storage: Array, offset: int, shape: tuple[int, ...], strides: tuple[int, ...], *_: object
) -> Array:
    steps = tuple(step * storage.itemsize for step in strides)
    last = offset + sum((size - 1) * step for size, step in zip(shape, strides, strict=True))
    if min((0, *strides)) < 0 or offset < 0 or (0 not in shape and last >= len(storage)):
        raise ValueError("a tensor lies outside of its storage")
    return np.lib.stride_tricks.as_strided(storage[offset:], shape, steps)


def _unpickler(file: Any, reader: _TensorReader) -> pickle.Unpickler:
    allowed: dict[tuple[str, str], Callable[..., Any] | np.dtype[Any]] = {
        ("collections", "OrderedDict"): OrderedDict,
        ("torch._utils", "_rebuild_tensor_v2"): _tensor,
        **{("torch", name): kind for name, kind in KINDS.items()},
    }

    class Unpickler(pickle.Unpickler):
        def find_class(self, module: str, name: str) -> Any:
            if (module, name) not in allowed:
                raise pickle.UnpicklingError(f"{module}.{name} is no part of a file of tensors")
            return allowed[module, name]

        def persistent_load(self, found: Any) -> Array:
            return reader.storage(found)

    return Unpickler(file)
