"""The options as editors complete them in Python. Written by tools/option_types.py; do not edit.

What each means: `penstock parse --help` and its like. A recipe takes the options that it has a parameter for
and refuses the others by name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict

if TYPE_CHECKING:
    from penstock.engines.mesh.request import MeshOptions
    from penstock.photos.user_boxes import GivenBox, GivenDepth, KnownSize
    from penstock.plan import Plan


class ParseSettings(TypedDict, total=False):
    """Options of the recipes for pages."""

    dpi: int
    lang: str | Sequence[str]
    layout: Literal["auto", "model", "pair", "rules", "pp-doclayoutv3", "cdla"]
    text_layer: Literal["auto", "always", "never"]
    flatten: Literal["auto", "off", "always"]
    office: Literal["auto", "structure", "pages", "both"]
    unprinted: Literal["keep", "drop", "all"]
    read_pictures: bool
    effort: Literal["fast", "balanced", "best"]
    crops: bool
    password: str | None
    accept_errors: float
    prompts: Literal["glm-ocr", "paddleocr-vl", "openai"]
    server: str | Sequence[str]
    model: str
    layout_model: str
    layout_threshold: float | Mapping[str, float]
    layout_merge: Literal["large", "small", "union"] | Mapping[str, Literal["large", "small", "union"]]
    layout_unclip: float | tuple[float, float] | Mapping[str, float | tuple[float, float]]
    layout_nms: bool
    layout_compile: bool
    layout_precision: Literal["fp32", "fp16", "bf16"]
    preset: str
    ocr_dtype: Literal["auto", "bf16", "fp8"]
    gpu_mem_util: float
    vision: Literal["auto", "fast", "fp8", "plain"]
    engine: Literal["vllm", "hf"]
    resolution: str
    base_size: int
    image_size: int
    crop_mode: bool
    prompt_mode: str
    prompt: str
    locate: str
    ngram: int
    ngram_window: int
    ngram_keep: Sequence[int]
    max_tokens: int
    max_model_len: int
    trust_remote_code: bool
    in_flight: int
    margins: Literal["drop", "read"]
    second_reader: Literal["none", "builtin"]
    text_height: float
    polygons: bool
    api_key: str | None
    max_pixels: int
    page_timeout: float
    cores: int | None


class ReaderSettings(ParseSettings, total=False):
    """Options of a `Reader`."""

    executor: str


class ConvertSettings(ReaderSettings, total=False):
    """Options of `convert`."""

    recipe: str | Plan
    pages: str | int | Iterable[int] | None


class RunSettings(ConvertSettings, total=False):
    """Options of `parse`."""

    max_pages: int
    image_column: str | None
    id_column: str | None
    retry_failed: bool
    fresh: bool
    partition: str | None
    dedup: bool
    keep_downloads: str | int | None
    price: str | float | None


class PlanningSettings(ConvertSettings, total=False):
    """Options of `plan_run`."""

    max_pages: int
    image_column: str | None
    id_column: str | None
    price: str | float | None
    cards: str | int
    profile: str | Path | None
    sample: int


class EnrichSettings(TypedDict, total=False):
    """The fields of `EnrichOptions`."""

    text_engine: Literal["none", "rule", "llm"]
    server: Sequence[str]
    model: str
    vision_server: Sequence[str]
    vision: str
    vision_model: str
    max_tokens: int
    api_key: str | None
    in_flight: int
    lang: str | Sequence[str]
    executor: str
    retry_failed: bool
    fresh: bool


class ExtractSettings(TypedDict, total=False):
    """The fields of `ExtractOptions`."""

    server: Sequence[str]
    model: str
    max_tokens: int
    api_key: str | None
    in_flight: int
    executor: str
    retry_failed: bool
    fresh: bool


class EmbedSettings(TypedDict, total=False):
    """The fields of `EmbedOptions`."""

    engine: str
    queries: Path | None
    images: bool | None
    precision: str
    password: str | None
    retry_failed: bool
    fresh: bool
    regions: Literal["visual", "all"] | None
    settings: dict[str, Any]


class PhotoSettings(TypedDict, total=False):
    """Options of the recipe for photos."""

    labels: Sequence[str]
    detector: Literal["saliency", "nanodet", "grounded", "rfdetr", "yoloe"]
    model: str
    min_score: float
    engine: Literal["silhouette", "sam3d"]
    camera_height: float
    pitch: float
    furniture: str
    gpus: int
    max_pixels: int
    page_timeout: float
    cores: int | None
    mesh: MeshOptions


class VolumesSettings(PhotoSettings, total=False):
    """Options of `volumes`."""

    boxes: Sequence[GivenBox]
    depths: Sequence[GivenDepth]
    known: Sequence[KnownSize]
    same_room: bool
    executor: str
    retry_failed: bool
    fresh: bool
    partition: str | None
    dedup: bool
