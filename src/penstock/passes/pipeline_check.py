"""The steps of a pipeline, and what they lack on this machine: said before the first page, all at once."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

from penstock.choices import check_choice
from penstock.engines.vllm.plugin import check_vision
from penstock.engines.vllm.presets import Card
from penstock.engines.vllm.server import find_vllm
from penstock.engines.vllm.server_plan import ServerChoice, check_dtype
from penstock.engines.weights.hub_cache import snapshot_of
from penstock.errors import MissingModel, PenstockError, UsageError, install_advice
from penstock.extras import lack_of
from penstock.passes.pipeline_options import PipelineOptions
from penstock.passes.pipeline_presets import PipelineModels
from penstock.plan import Plan
from penstock.recipes.regions import TORCH
from penstock.sizes import GB, file_size
from penstock.stages.doclayout import DocLayout
from penstock.stages.ground import Ground
from penstock.store.atomic_files import make_folder

STEPS = (
    "check", "download", "parse", "enrich", "embed", "index", "evaluate", "upload",
)  # fmt: skip
GROUPS = {
    "ocr": ("check", "download", "parse"),
    "embed": ("enrich", "embed", "index", "evaluate"),
    "upload": ("upload",),
}
EXTRA_OF_STEP = {
    "download": "hub",
    "embed": "search",
    "index": "search",
    "evaluate": "search",
    "upload": "hub",
}
MIN_FREE_BYTES = 2 * GB  # of disk to begin with; a large corpus takes ten times as much


def refuse_useless(options: PipelineOptions, models: PipelineModels) -> None:
    """Raises UsageError for an option of servers where the recipe has none."""
    check_dtype(options.ocr_dtype)
    check_vision(options.vision)
    of_readers = {
        "--server": options.servers,
        "--ocr-dtype": options.ocr_dtype != "auto",
        "--vision": options.vision != "auto",
    }
    of_all = {
        "--preset": options.preset != "auto",
        "--gpu-mem-util": options.gpu_mem_util,
        "--workers": options.workers,
        "--ocr-model": options.ocr_model,
        "--embedding-model": options.embedding_model,
        "--embedding-server": options.embedding_server,
    }
    given = {**({} if models.read_by_server else of_readers), **({} if models.served else of_all)}
    for name, is_given in given.items():
        if is_given:
            raise UsageError(
                f"{name} has no effect with the recipe {models.name!r}, which has no such server.",
                "Leave it out, or name a recipe with a model server: --recipe glm-ocr.",
            )


def chosen_steps(step: str | None, skip: tuple[str, ...]) -> tuple[str, ...]:
    """Returns the steps of a group (ocr, embed, upload) or all, in order, without those to skip."""
    if step is not None:
        check_choice("--step", step, GROUPS)
    for name in skip:
        if name not in STEPS:
            raise UsageError(f"--skip {name} is not a step.", f"The steps are: {', '.join(STEPS)}.")
    return tuple(name for name in STEPS if name not in skip and (step is None or name in GROUPS[step]))


def need_all(lacks: Sequence[PenstockError]) -> None:
    """Raises UsageError with every sentence and its advice, if there is one."""
    if not lacks:
        return
    if len(lacks) == 1:
        raise lacks[0]
    lines = "\n".join(f"  {' '.join(filter(None, (lack.message, lack.advice)))}" for lack in lacks)
    raise UsageError(f"{len(lacks)} things are missing:\n{lines}")


def steps_lack(steps: Sequence[str]) -> Iterator[PenstockError]:
    """Yields what is missing of the packages that these steps need; each extra is named once."""
    first = {EXTRA_OF_STEP[step]: step for step in reversed(steps) if step in EXTRA_OF_STEP}
    for extra, step in sorted(first.items()):
        if lack := lack_of(extra, f"Step {step}"):
            yield lack


def stages_lack(plan: Plan) -> Iterator[PenstockError]:
    """Yields what is missing for networks that run in this process: PP-DocLayoutV3, DeepSeek-OCR by torch."""
    for stage in plan:
        if isinstance(stage, DocLayout):
            yield from _torch_lacks("PP-DocLayoutV3", "Or find regions on the CPU: --layout cdla.")
            yield from weights_lack(stage.model)
        if isinstance(stage, Ground) and stage.engine == "hf":
            yield from _torch_lacks("The engine 'hf'", "Or name a server with --server.")


def _torch_lacks(what: str, otherwise: str) -> Iterator[PenstockError]:
    absent = [name for name in TORCH if find_spec(name) is None]
    if absent:
        yield MissingModel(f"{what} needs {' and '.join(absent)}.", f"{install_advice('gpu')} {otherwise}")


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
    return is_folder_name(model) or snapshot_of(model) is not None


def _is_offline() -> bool:
    return os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "ON", "YES", "TRUE")


def free_bytes(out: Path) -> int:
    """Returns the free disk where OUT will be. Raises UsageError where it is too little to begin with."""
    make_folder(out)
    free = shutil.disk_usage(out).free
    if free < MIN_FREE_BYTES:
        raise UsageError(f"Only {file_size(free)} are free on the disk of {out}.")
    return free


def cards_in_words(found: Sequence[Card]) -> str:
    """'2 x NVIDIA B200', or that there is none."""
    names = list(dict.fromkeys(card.name for card in found))
    counts = [sum(card.name == name for card in found) for name in names]
    return ", ".join(f"{count} x {name}" for count, name in zip(counts, names, strict=True)) or "no GPU"


def started_in_words(chosen: Sequence[ServerChoice], found: Sequence[Card]) -> str:
    """'vLLM with preset b200 on 1 x NVIDIA B200', and which weights have to be downloaded first."""
    if not chosen:
        return "no model server is to be started"
    absent = [choice.model for choice in chosen if not is_downloaded(choice.model)]
    first = f", downloads {' and '.join(absent)} first" if absent else ""
    return f"vLLM with preset {chosen[0].preset.name} on {cards_in_words(found)}{first}"
