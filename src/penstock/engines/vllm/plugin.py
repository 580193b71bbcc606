"""Hands our vLLM plugin to a server, whose `vllm` may live in an environment that does not have us.

vLLM looks for plugins among the installed packages of its interpreter. A folder of the user's cache looks
like an installed package that holds the plugin and nothing else, and goes to the end of the server's
PYTHONPATH; where the server's environment has us installed, that copy is used.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

import penstock
from penstock import vllm_plugin
from penstock.choices import check_choice
from penstock.engines.weights.cache import cache_folder
from penstock.vllm_plugin import MODES, VARIABLE

_ENTRY_POINTS = "[vllm.general_plugins]\npenstock_vision = penstock.vllm_plugin:register\n"
_METADATA = f"Metadata-Version: 2.1\nName: penstock-vllm-plugin\nVersion: {penstock.__version__}\n"


def check_vision(mode: str) -> None:
    """Raises UsageError for a vision tower that we do not know."""
    check_choice("--vision", mode, MODES)


def vision_environment(mode: str, given: Mapping[str, str]) -> dict[str, str]:
    """The variables that choose a server's vision tower; `given` is what its environment has otherwise."""
    if mode == "plain":
        return {VARIABLE: mode}
    path = [part for part in (given.get("PYTHONPATH", ""), str(plugin_folder())) if part]
    return {VARIABLE: mode, "PYTHONPATH": os.pathsep.join(path)}


def plugin_folder() -> Path:
    """Returns the folder for PYTHONPATH, made at its first use. A changed plugin has another folder."""
    room = Path(vllm_plugin.__file__).parent
    sources = sorted(room.glob("*.py"))
    words = hashlib.sha256(b"\0".join(source.read_bytes() for source in sources)).hexdigest()[:16]
    folder = cache_folder().parent / "vllm_plugin" / words
    if not folder.is_dir():
        _make(folder, sources)
    return folder


def _make(folder: Path, sources: list[Path]) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(dir=folder.parent))
    info = scratch / f"penstock_vllm_plugin-{penstock.__version__}.dist-info"
    room = scratch / "penstock" / "vllm_plugin"
    for made in (info, room):
        made.mkdir(parents=True)
    (info / "METADATA").write_text(_METADATA)
    (info / "entry_points.txt").write_text(_ENTRY_POINTS)
    for source in sources:
        shutil.copyfile(source, room / source.name)
    try:
        scratch.rename(folder)
    except OSError:  # another process was faster
        shutil.rmtree(scratch)
