"""Says what a pipeline lacks on this machine before it reads the first page, all of it at once."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

from penstock.engines.vllm.presets import Card
from penstock.engines.vllm.server import find_vllm
from penstock.errors import MissingModel, PenstockError, UsageError, install_advice
from penstock.plan import Plan
from penstock.recipes.regions import TORCH
from penstock.sources import hub
from penstock.stages.doclayout import DocLayout
from penstock.store.atomic_files import make_folder

MIN_FREE_BYTES = 2 << 30  # of disk to begin with; a large corpus takes ten times as much


def need_all(lacks: Sequence[PenstockError]) -> None:
    """Raises UsageError with every sentence and its advice, if there is one."""
    if not lacks:
        return
    if len(lacks) == 1:
        raise lacks[0]
    lines = "\n".join(f"  {' '.join(filter(None, (lack.message, lack.advice)))}" for lack in lacks)
    raise UsageError(f"{len(lacks)} things are missing:\n{lines}")


def layout_lacks(plan: Plan) -> Iterator[PenstockError]:
    """What PP-DocLayoutV3 needs, where the plan finds regions with it."""
    for stage in plan:
        if not isinstance(stage, DocLayout):
            continue
        absent = [name for name in TORCH if find_spec(name) is None]
        if absent:
            yield MissingModel(
                f"PP-DocLayoutV3 needs {' and '.join(absent)}.",
                f"{install_advice('gpu')} Or find regions on the CPU: --layout cdla.",
            )
        yield from weights_lack(stage.model)


def vllm_lacks() -> Iterator[PenstockError]:
    try:
        find_vllm()
    except MissingModel as exc:
        yield exc


def weights_lack(model: str) -> Iterator[PenstockError]:
    """A folder without a model in it, or a model of the Hub that cannot be downloaded."""
    if is_folder_name(model):
        if not (Path(model) / "config.json").is_file():
            yield UsageError(f"{model} is not a folder with a model: it has no config.json.")
    elif _is_offline() and not is_downloaded(model):
        yield UsageError(
            f"The weights of {model} are not on this machine, and HF_HUB_OFFLINE forbids to download them.",
            "Unset HF_HUB_OFFLINE, or name a folder with the weights.",
        )


def is_folder_name(model: str) -> bool:
    """Whether it names a place on this machine rather than a model of the Hub."""
    return model.startswith(("/", "./", "../", "~")) or Path(model).is_dir()


def is_downloaded(model: str) -> bool:
    """Whether the Hub's cache of this machine has the model's description, which comes with its weights."""
    return is_folder_name(model) or hub.is_cached(model)


def _is_offline() -> bool:
    return os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "ON", "YES", "TRUE")


def free_bytes(out: Path) -> int:
    """Returns the free disk where OUT will be. Raises UsageError where it is too little to begin with."""
    make_folder(out)
    free = shutil.disk_usage(out).free
    if free < MIN_FREE_BYTES:
        raise UsageError(f"Only {free / 2**30:.1f} GB are free on the disk of {out}.")
    return free


def cards_in_words(found: Sequence[Card]) -> str:
    """'2 x NVIDIA B200', or that there is none."""
    names = list(dict.fromkeys(card.name for card in found))
    counts = [sum(card.name == name for card in found) for name in names]
    return ", ".join(f"{count} x {name}" for count, name in zip(counts, names, strict=True)) or "no GPU"
