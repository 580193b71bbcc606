"""What a pipeline is asked to do, and what its steps hand on to each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from penstock.options.passes import PRECISION
from penstock.passes.embed import EmbedSummary
from penstock.passes.pipeline_presets import PipelinePreset
from penstock.passes.scores import Summary
from penstock.redaction import SafeRepr
from penstock.stage import secret


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineOptions(SafeRepr):
    """What a pipeline reads, with which models, and where things are."""

    out: Path
    data: Path  # where a data set of the Hub is downloaded to
    source_preset: PipelinePreset = field(default_factory=PipelinePreset)
    dataset: str = ""  # the preset's own if empty
    revision: str = ""  # of the data set: a commit, a tag or a branch; the newest if empty
    inputs: tuple[str, ...] = ()  # pages of one's own instead of a data set
    recipe: str = ""  # what this machine can do best if empty
    queries: Path | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)  # more of the recipe's own options
    limit: int | None = None
    crops: bool = True
    crop_names: str | None = None  # of exports: content, page; None: as the run in OUT, or page
    ocr_model: str = ""  # a folder or hub name; the recipe's own if empty
    ocr_dtype: str = "auto"  # auto: the preset's own
    vision: str = "auto"  # auto: ours where it fits
    preset: str = "auto"
    gpu_mem_util: float | None = None  # share of a card that servers have together; None: the preset's own
    batch_size: int | None = None  # pages of a layout batch; None: as many as the network takes
    workers: int | None = None  # requests under way at once; None: as many as keep the servers busy
    servers: tuple[str, ...] = ()  # that read already, so none is started
    enrich: bool = False
    embedding_model: str | None = None
    embedding_server: str | None = None
    precision: str = PRECISION.default
    repo: str | None = None
    private: bool = True
    token: str | None = secret()
    licence: str = ""  # of what is uploaded; "": the sources' own

    @property
    def source(self) -> str:
        return self.dataset or self.source_preset.dataset

    @property
    def published_pages(self) -> int:
        """How many pages the preset's own data set has; 0 for other pages, or where that is not known."""
        is_presets = self.source == self.source_preset.dataset and not self.inputs
        return self.source_preset.num_pages if is_presets else 0


@dataclass
class PipelineState(SafeRepr):
    """What the steps hand on to each other, and the summary at the end."""

    seconds: dict[str, float] = field(default_factory=dict)
    revision: str = ""
    pages: dict[str, int] = field(default_factory=dict)
    estimate: dict[str, float] = field(default_factory=dict)  # pages and seconds of the whole set
    blocks: dict[str, int] = field(default_factory=dict)
    embedded: EmbedSummary | None = None
    scores: dict[str, Summary] = field(default_factory=dict)
    url: str = ""

    @property
    def failed(self) -> int:
        """Pages that could not be read or embedded, now or before."""
        read = self.pages.get("failed", 0) + self.pages.get("failed before", 0)
        return max(read, self.embedded.failed + self.embedded.failed_before if self.embedded else 0)
