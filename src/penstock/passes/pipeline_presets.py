"""Pipelines by name: which data set, and the models it is read and embedded with.

`builtin` is all of it on a CPU. Every other recipe is one of `penstock parse` that reads through a model
server; its pages are embedded with Qwen3-VL-Embedding on the same card.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from penstock.engines.vllm.presets import Card
from penstock.engines.vllm.server import find_vllm
from penstock.errors import MissingModel, UsageError
from penstock.plan import Plan
from penstock.recipes import RECIPES, build, takes_of
from penstock.redaction import SafeRepr
from penstock.stage import Stage
from penstock.stages.doclayout import DocLayout
from penstock.store.out import Out

BUILTIN = "builtin"
CHOOSES = "auto"  # reads without a server too: a pipeline cannot know which one to start for it
ON_A_CARD = "glm-ocr"  # what a machine with a GPU reads with by default
LAYOUT_BATCH = 8  # pages: less than the stage's own, for a card that a server fills


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelinePreset:
    """A data set as it is published. `corpus` and `queries` are words in the names of its files."""

    dataset: str = ""
    corpus: str = "corpus"
    queries: str = "qa"
    num_pages: int = 0  # as published, where that is known


PRESETS = {
    "pages": PipelinePreset(),  # any data set or files, named by --dataset or as inputs
    "kopub": PipelinePreset(dataset="SamsungSDS-Research/SDS-KoPub-VDR-Benchmark", num_pages=40_781),
}


def preset_of(name: str) -> PipelinePreset:
    if name not in PRESETS:
        raise UsageError(f"There is no pipeline {name!r}.", f"Choose from: {', '.join(PRESETS)}.")
    return PRESETS[name]


def corpus_of(dataset: Path, preset: PipelinePreset) -> Path:
    """Returns the folder or file with a data set's pages; the data set itself where none has that name."""
    named = [path for path in _shown_paths(dataset) if preset.corpus in path.name.lower()]
    return next((path for path in named if path.is_dir() or path.suffix in (".parquet", ".arrow")), dataset)


def queries_of(dataset: Path, preset: PipelinePreset) -> Path | None:
    """Returns the table of questions in a data set, if it has one. Raises UsageError where it has several."""
    tables = [path for path in _shown_paths(dataset) if path.suffix in (".parquet", ".arrow", ".jsonl")]
    found = [path for path in tables if preset.queries in path.relative_to(dataset).as_posix().lower()]
    if len(found) > 1:
        raise UsageError(f"{dataset} has {len(found)} files of questions.", "Name one with --queries.")
    return found[0] if found else None


def _shown_paths(folder: Path) -> list[Path]:
    """Returns all below a folder but what is hidden: the Hub's client keeps a copy of the tree there."""
    paths = sorted(folder.rglob("*"))
    return [
        path for path in paths if not any(part.startswith(".") for part in path.relative_to(folder).parts)
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineModels(SafeRepr):
    """What a pipeline reads and embeds with, and whether models are served."""

    name: str
    parse_recipe: str
    served: bool
    embedder: str
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def read_by_server(self) -> bool:
        """Whether pages are read by a server too: transformers reads in this process."""
        return self.served and self.settings.get("engine") != "hf"

    def plan(self, crops: bool, batch_size: int | None, **served: Any) -> Plan:
        """Returns the plan that reads pages, with those of `served` (servers, in_flight) that it takes."""
        takes = takes_of(self.parse_recipe)
        settings = {key: value for key, value in served.items() if key in takes}
        if "crops" in takes:
            settings["crops"] = crops
        elif not crops:
            raise UsageError(f"Recipe {self.name!r} always keeps its crops.", "Leave --no-crops out.")
        plan = build(self.parse_recipe, {**self.settings, **settings})
        if batch_size is not None and not any(isinstance(stage, DocLayout) for stage in plan):
            raise UsageError(
                f"--batch-size has no effect: the recipe {self.name!r} lays pages out one by one.",
                "Leave it out, or use a recipe with --layout pp-doclayoutv3.",
            )
        return Plan(
            *(_batched(stage, batch_size or LAYOUT_BATCH) for stage in plan), name=plan.name, notes=plan.notes
        )


def models_of(recipe: str, settings: Mapping[str, Any]) -> PipelineModels:
    """Returns the models by the recipe's name. Raises UsageError for one that no pipeline reads with."""
    if recipe == BUILTIN:
        return PipelineModels(
            name=recipe, parse_recipe="documents", served=False, embedder="use", settings=settings
        )
    served = [name for name in RECIPES if "server" in takes_of(name) and name != CHOOSES]
    is_own = ":" in recipe and "server" in takes_of(recipe)  # module:function
    if recipe not in served and not is_own:
        choices = ", ".join([BUILTIN, *served])
        raise UsageError(f"There is no recipe {recipe!r} here.", f"Choose from: {choices}.")
    return PipelineModels(name=recipe, parse_recipe=recipe, served=True, embedder="openai", settings=settings)


def default_recipe(out: Out, found: Sequence[Card]) -> tuple[str, str]:
    """Returns the recipe of this machine and the reason: a run that was begun goes on as it was."""
    begun = str(out.run().get("recipe", ""))
    if begun:
        return (BUILTIN if begun == "documents" else begun), f"{out} was begun with it"
    if not found:
        return BUILTIN, "there is no GPU here"
    try:
        find_vllm()
    except MissingModel:
        return BUILTIN, f"there is a GPU ({found[0].name}), but vLLM is not installed"
    return ON_A_CARD, f"there is a GPU ({found[0].name})"


def _batched(stage: Stage, size: int) -> Stage:
    """Returns the plan with batches of `size` for a layout network on a card; other stages keep theirs."""
    return (
        replace(stage, batch=replace(stage.batch, max_items=size)) if isinstance(stage, DocLayout) else stage
    )
