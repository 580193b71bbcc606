"""The options of the verbs as editors complete them in Python. Their names are those of the command line.

What each means: `penstock parse --help`, and the recipes' own page. A recipe takes the options it has a
parameter for and refuses the others by name. A test compares these with the recipes and the commands.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from penstock.stages.embed import EmbeddedRegions
from penstock.stages.summarise import TextEngine
from penstock.vllm_plugin import Vision

if TYPE_CHECKING:
    from penstock.engines.mesh.request import MeshOptions


class ParseSettings(TypedDict, total=False):
    """Options of the recipes for pages."""

    dpi: int
    lang: str | Sequence[str]  # "ko,en", or ("ko", "en")
    layout: Literal["model", "rules", "auto", "pp-doclayoutv3", "cdla"]
    text_layer: Literal["auto", "always", "never"]
    flatten: Literal["auto", "off", "always"]
    effort: Literal["fast", "balanced", "best"]
    crops: bool
    password: str | None
    server: str | Sequence[str]
    model: str
    layout_model: str
    layout_threshold: float | str | Mapping[str, float]
    layout_merge: str | Mapping[str, str]
    layout_unclip: float | str | Mapping[str, float]
    layout_nms: bool
    layout_compile: bool
    layout_precision: Literal["fp16", "fp32", "bf16"]
    preset: str
    ocr_dtype: Literal["auto", "bf16", "fp8"]
    vision: Vision
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
    text_height: float
    polygons: bool
    api_key: str | None
    max_pixels: int
    page_timeout: float
    cores: int | None


class EnrichSettings(TypedDict, total=False):
    """The fields of `EnrichOptions`."""

    text_engine: TextEngine
    server: tuple[str, ...]
    model: str
    vision_server: tuple[str, ...]
    vision: str
    vision_model: str
    max_tokens: int
    api_key: str | None
    in_flight: int
    lang: str | tuple[str, ...]
    executor: str
    retry_failed: bool
    fresh: bool


class EmbedSettings(TypedDict, total=False):
    """The fields of `EmbedOptions`."""

    engine: str
    queries: Path | None
    images: bool | None
    regions: EmbeddedRegions | None
    precision: str
    password: str | None
    retry_failed: bool
    fresh: bool
    settings: dict[str, Any]


class PhotoSettings(TypedDict, total=False):
    """Options of the recipe for photos."""

    detector: str | None
    engine: str
    labels: tuple[str, ...]
    min_score: float
    model: str | None
    camera_height: float | None
    pitch: float | None
    furniture: str | None
    max_pixels: int
    page_timeout: float
    gpus: int | None
    mesh: MeshOptions | None
    cores: int | None


def recipe_options(given: ParseSettings) -> dict[str, Any]:
    """Returns the options in the recipe's own terms: several languages and servers are tuples."""
    options: dict[str, Any] = dict(given)
    for name in ("lang", "server"):
        value = options.get(name)
        if isinstance(value, str):
            options[name] = tuple(value.replace(",", " ").split())
        elif value is not None:
            options[name] = tuple(value)
    return options
