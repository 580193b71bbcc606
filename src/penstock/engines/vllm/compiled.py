"""Where servers keep what they compile: one folder, so that a start finds what an earlier one left.

vLLM 0.32 names what it keeps by its version, the card and the flags, and not by the folder.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from penstock.processes.user_cache import user_cache

# variable: its place in the folder. vLLM's graphs and kernels, ours, FlashInfer's
PLACES = {"VLLM_CACHE_ROOT": "vllm", "TRITON_CACHE_DIR": "triton", "FLASHINFER_WORKSPACE_BASE": "flashinfer"}


def compiled_folder() -> Path:
    return user_cache() / "compiled"


def compiled_environment(given: Mapping[str, str]) -> dict[str, str]:
    """The variables that name the places; those that are `given` stay as they are."""
    folder = compiled_folder()
    return {name: str(folder / place) for name, place in PLACES.items() if name not in given}


def compiled_bytes() -> int:
    """Returns how large the folder is. Other servers may write there, and remove what they wrote."""
    total = 0
    for path in compiled_folder().rglob("*"):
        with suppress(FileNotFoundError):
            total += path.lstat().st_size if path.is_file() else 0
    return total
