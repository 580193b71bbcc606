"""The options of the passes over a finished run: `enrich` and `embed`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from penstock.engines.summarise.writers import TextEngine
from penstock.options.option import Option
from penstock.options.running import EXECUTOR, FRESH, RETRY_FAILED
from penstock.stages.embed import EmbeddedRegions

ENRICH: tuple[Option, ...] = (
    Option(
        name="text_engine", type=TextEngine, default="rule",
        help="What writes: rule (no model), llm (a language model's server) or none.",
    ),
    Option(
        name="server", type=Sequence[str], several="repeated", default=(), group="Servers",
        help="Address of the language model's server. Repeat it for several.",
    ),
    Option(
        name="model", type=str, default="", group="Servers",
        help="The language model's name at its server.",
    ),
    Option(
        name="vision_server", type=Sequence[str], several="repeated", default=(), group="Servers",
        help="Address of the server of a vision model that describes pictures first. Repeat it for several.",
    ),
    Option(
        name="vision", type=str, default="deepseek-ocr", group="Reading",
        help="How the vision model is prompted: deepseek-ocr, openai, ...",
    ),
    Option(
        name="vision_model", type=str, default="", group="Servers",
        help="The vision model's name at its server.",
    ),
    Option(
        name="max_tokens", type=int, default=0, min=0,
        help="Maximum number of tokens in one answer. 0: 1,500 for descriptions, 700 for summaries.",
    ),
    Option(
        name="api_key", type=str | None, group="Servers",
        help="API key of the servers.",
    ),
    Option(
        name="in_flight", type=int, default=64, min=1, group="Servers",
        help="Number of requests that the servers get at once.",
    ),
    Option(
        name="lang", type=str | Sequence[str], several="words", default=(),
        help="Languages to write: ko, en or ko,en. Default: English, and Korean for Korean documents.",
    ),
    EXECUTOR,
    RETRY_FAILED,
    FRESH,
)  # fmt: skip

PRECISION = Option(
    name="precision", type=str, default="float32", group="Output", offers=("float32", "float16", "int8"),
    help="Numeric type of the .npy files: float32, float16 or int8.",
)  # fmt: skip
EMBED_RUN: tuple[Option, ...] = (
    Option(
        name="engine", type=str, default="use", group="Servers", offers=("use", "openai", "qwen3-vl"),
        help="What embeds: use (texts, on any CPU), openai (a server) or qwen3-vl (transformers).",
    ),
    Option(
        name="queries", type=Path | None, group="Input",
        help="File of questions to embed as well: .jsonl, .json, .parquet, or one question a line.",
    ),
    Option(
        name="images", type=bool | None,
        help="Embed pictures of pages. Default: if the engine can.",
    ),
    PRECISION,
    Option(
        name="password", type=str | None, group="Input",
        help="Password of encrypted PDFs.",
    ),
    RETRY_FAILED,
    FRESH,
)  # fmt: skip
EMBED_PYTHON: tuple[Option, ...] = (
    Option(
        name="regions", type=EmbeddedRegions | None,
        help="Regions that get a vector of their own: visual, or all. Default: as the engine needs.",
    ),
    Option(name="settings", type=dict[str, Any], help="Options of the engine."),
)  # fmt: skip
EMBED_ENGINE: tuple[Option, ...] = (
    Option(
        name="model", type=str, group="Servers",
        help="The model's name. Default: the first model of the server.",
    ),
    Option(name="server", type=str, group="Servers", help="Address of an embedding server."),
    Option(
        name="dimensions", type=int, min=1,
        help="Keep only the first N numbers of a vector (Matryoshka models).",
    ),
    Option(
        name="in_flight", type=int, min=1, group="Servers",
        help="Number of requests that the server gets at once.",
    ),
    Option(name="api_key", type=str, group="Servers", help="API key of the server."),
)  # fmt: skip
