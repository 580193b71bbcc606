"""The options of the passes over a finished run: `enrich`, `extract` and `embed`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from penstock.engines.summarise.writers import TextEngine
from penstock.options.option import Option
from penstock.options.running import EXECUTOR, FRESH, RETRY_FAILED
from penstock.stages.embed import EmbeddedRegions

ENRICH: tuple[Option, ...] = (
    Option("text_engine", TextEngine,
        "What writes: rule (no model), llm (a language model's server) or none.", default="rule"),
    Option("server", Sequence[str], "Address of the language model's server. Repeat it for several.",
        several="repeated", default=(), group="Servers"),
    Option("model", str, "The language model's name at its server.", default="", group="Servers"),
    Option("vision_server", Sequence[str],
        "Address of the server of a vision model that describes pictures first. Repeat it for several.",
        several="repeated", default=(), group="Servers"),
    Option("vision", str, "How the vision model is prompted: deepseek-ocr, openai, ...",
        default="deepseek-ocr", group="Reading"),
    Option("vision_model", str, "The vision model's name at its server.", default="", group="Servers"),
    Option("max_tokens", int,
        "Maximum number of tokens in one answer. 0: 1,500 for descriptions, 700 for summaries.", default=0,
        min=0),
    Option("api_key", str | None, "API key of the servers.", group="Servers"),
    Option("in_flight", int, "Number of requests that the servers get at once.", default=64, min=1,
        group="Servers"),
    Option("lang", str | Sequence[str],
        "Languages to write: ko, en or ko,en. Default: English, and Korean for Korean documents.",
        several="words", default=()),
    EXECUTOR,
    RETRY_FAILED,
    FRESH,
)  # fmt: skip

EXTRACT: tuple[Option, ...] = (
    Option("server", Sequence[str],
        "Address of a language model's server that is asked as well. Repeat it for several.",
        several="repeated", default=(), group="Servers"),
    Option("model", str, "The language model's name at its server.", default="", group="Servers"),
    Option("max_tokens", int, "Maximum number of tokens in one answer.", default=2_000, min=1),
    Option("api_key", str | None, "API key of the servers.", group="Servers"),
    Option("in_flight", int, "Number of requests that the servers get at once.", default=64, min=1,
        group="Servers"),
    EXECUTOR,
    RETRY_FAILED,
    FRESH,
)  # fmt: skip

PRECISION = Option(
    "precision",
    str,
    "Numeric type of the .npy files: float32, float16 or int8.",
    default="float32",
    group="Output",
    offers=("float32", "float16", "int8"),
)
EMBED_RUN: tuple[Option, ...] = (
    Option("engine", str,
        "What embeds: use (texts, on any CPU), openai (a server) or qwen3-vl (transformers).", default="use",
        group="Servers", offers=("use", "openai", "qwen3-vl")),
    Option("queries", Path | None,
        "File of questions to embed as well: .jsonl, .json, .parquet, or one question a line.",
        group="Input"),
    Option("images", bool | None, "Embed pictures of pages. Default: if the engine can."),
    PRECISION,
    Option("password", str | None, "Password of encrypted PDFs.", group="Input"),
    RETRY_FAILED,
    FRESH,
)  # fmt: skip
EMBED_PYTHON: tuple[Option, ...] = (
    Option("regions", EmbeddedRegions | None,
        "Regions that get a vector of their own: visual, or all. Default: as the engine needs."),
    Option("settings", dict[str, Any], "Options of the engine."),
)  # fmt: skip
EMBED_ENGINE: tuple[Option, ...] = (
    Option("model", str, "The model's name. Default: the first model of the server.", group="Servers"),
    Option("server", str, "Address of an embedding server.", group="Servers"),
    Option("dimensions", int, "Keep only the first N numbers of a vector (Matryoshka models).", min=1),
    Option("in_flight", int, "Number of requests that the server gets at once.", min=1, group="Servers"),
    Option("api_key", str, "API key of the server.", group="Servers"),
)  # fmt: skip
