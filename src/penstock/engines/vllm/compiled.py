"""Where servers keep what they compile: one folder, so that a start finds what an earlier one left.

It may be copied to machines with the same cards and the same vLLM. vLLM names what it keeps by versions, card
and flags, not by the folder, so what does not fit is not used.
"""

from __future__ import annotations

from collections.abc import Mapping
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
    """Returns how large the folder is."""
    return sum(path.lstat().st_size for path in compiled_folder().rglob("*") if path.is_file())
