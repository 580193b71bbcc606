"""How sizes are written: files, disks and requests in decimal MB and GB, memory in binary MiB and GiB.

Disks are sold and file managers count in the one; nvidia-smi, vLLM and kernels count memory in the other.
"""

from __future__ import annotations

import re

MB, GB = 10**6, 10**9
MIB, GIB = 2**20, 2**30
_WRITTEN = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)b?", re.IGNORECASE)
_DECIMAL = ((GB, "GB"), (MB, "MB"), (1_000, "kB"))
_BINARY = ((GIB, "GiB"), (MIB, "MiB"), (1_024, "KiB"))


def read_file_size(text: str) -> int:
    """Returns the bytes of a size as people write it: 500GB, 1.5 TB, 20000. Raises ValueError."""
    match = _WRITTEN.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r} is no size")
    return int(float(match[1]) * 1000 ** " kmgt".index(match[2].lower() or " "))


def file_size(num_bytes: float) -> str:
    """Returns the size of what lies on a disk or travels: "1.5 GB", "12 MB", "800 bytes"."""
    return _written(num_bytes, _DECIMAL)


def memory_size(num_bytes: float) -> str:
    """Returns the size of a machine's or a card's memory: "22.5 GiB", "812 MiB"."""
    return _written(num_bytes, _BINARY)


def _written(num_bytes: float, units: tuple[tuple[int, str], ...]) -> str:
    """Writes one figure after the point for the largest unit and for small numbers, else none."""
    for size, name in units:
        number = num_bytes / size
        if abs(number) >= 1:
            digits = 1 if size == units[0][0] or abs(number) < 10 else 0
            return f"{f'{number:,.{digits}f}'.removesuffix('.0')} {name}"
    return f"{num_bytes:.0f} bytes"
