"""The options of the recipes for pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from penstock.choices import FlattenUse, LayerUse, Merge, OfficeUse, Precision, SecondReading, Unprinted
from penstock.engines.chat.region_tasks import Margins
from penstock.engines.ocr.effort import Effort
from penstock.options.option import (
    DOCUMENTS,
    GROUNDED,
    MODEL_RECIPES,
    RECIPE_NAMES,
    REGIONS,
    Option,
    token_ids,
)
from penstock.vllm_plugin import Vision

WITH_LAYOUT = (*DOCUMENTS, *REGIONS)

READING: tuple[Option, ...] = (
    Option("dpi", int, "Resolution at which PDF pages are rendered.", recipes=RECIPE_NAMES, remote=True,
        min=36, max=600),
    Option("lang", str | Sequence[str],
        "Languages of the pages, such as ko,en. Recognised from the page if not given.", several="words",
        recipes=DOCUMENTS, remote=True, max_length=20),
    Option("layout", Literal["auto", "model", "pair", "rules", "pp-doclayoutv3", "cdla"],
        "How regions are found. documents: model (the built-in network), pair (a second network with it on"
        " pages with a text layer), rules (fonts and geometry) or pp-doclayoutv3 (a larger network, 131 MB,"
        " which auto takes for --effort best if it was fetched). Recipes with a model server: auto,"
        " pp-doclayoutv3 (needs torch) or cdla (CPU).",
        recipes=WITH_LAYOUT, remote=True),
    Option("text_layer", LayerUse,
        "When the text inside a PDF is used: auto (if it can be trusted), always or never.",
        recipes=DOCUMENTS, remote=True),
    Option("flatten", FlattenUse,
        "Flatten photographs of pages: auto (if it looks like one), off or always.", recipes=DOCUMENTS,
        remote=True),
    Option("office", OfficeUse,
        "How Office files and HWP are read: structure (the file's own words, tables and notes), pages"
        " (printed, then read like a PDF), both (the file's words in the boxes of its printed pages) or auto"
        " (structure).", recipes=DOCUMENTS, remote=True),
    Option("unprinted", Unprinted,
        "What Office files hold and do not show: comments, deleted words, speaker notes, hidden sheets and"
        " slides. keep (marked in their regions), drop, or all: also formulas of sheets"
        " and numbers as stored.", recipes=DOCUMENTS, remote=True),
    Option("effort", Effort, "Time spent on reading pictures: fast, balanced or best.", recipes=DOCUMENTS,
        remote=True),
    Option("crops", bool, "Keep crops of pictures, charts, tables and formulas.", recipes=RECIPE_NAMES,
        remote=True),
    Option("password", str | None, "Password of encrypted PDFs.", recipes=RECIPE_NAMES, remote=True,
        group="Input"),
    Option("server", str | Sequence[str],
        "Address of a model server that is already running. Repeat it for several.", several="repeated",
        recipes=MODEL_RECIPES, group="Servers"),
    Option("model", str, "Model name as the server knows it, or the folder of a model.",
        recipes=MODEL_RECIPES, group="Servers"),
    Option("layout_model", str,
        "Weights of PP-DocLayoutV3: a folder or a name on the Hub; for documents also an ONNX file.",
        recipes=WITH_LAYOUT, group="Servers"),
    Option("layout_threshold", float | Mapping[str, float],
        "Lowest score of a region: 0.3 for all classes, or by class: text=0.4,table=0.5.",
        recipes=WITH_LAYOUT, remote=True),
    Option("layout_merge", Merge | Mapping[str, Merge],
        "Which of two nested boxes stays: large, small, or union for both; or by class.", recipes=REGIONS,
        remote=True),
    Option("layout_unclip", float | tuple[float, float] | Mapping[str, float | tuple[float, float]],
        "Factor by which boxes grow: 1.02, or width x height: 1.1x1.0; or by class.", recipes=REGIONS,
        remote=True),
    Option("layout_nms", bool, "Drop regions that were found twice.", recipes=REGIONS, remote=True),
    Option("layout_compile", bool, "Compile the layout network, which pays off on long runs.",
        recipes=REGIONS),
    Option("layout_precision", Precision, "Numeric precision of the layout network: fp32, fp16 or bf16.",
        recipes=REGIONS),
    Option("preset", str,
        "Settings of a server that Penstock starts; `penstock engine start --help` lists them.",
        recipes=MODEL_RECIPES, group="Servers"),
    Option("ocr_dtype", Literal["auto", "bf16", "fp8"],
        "Numeric precision of a server that Penstock starts: auto, bf16 or fp8.", recipes=MODEL_RECIPES,
        group="Servers"),
    Option("vision", Vision,
        "Vision tower of a GLM-OCR server that Penstock starts: auto (fast where it fits), fast, fp8, or"
        " plain (vLLM's own).", recipes=REGIONS, group="Servers"),
    Option("engine", Literal["vllm", "hf"],
        "What runs the model: vllm (a server), or hf (transformers in this process).", recipes=GROUNDED,
        group="Servers"),
    Option("resolution", str,
        "Resolution of the views: tiny, small, base, large, gundam, untiled, or pixels: 1024+640.",
        recipes=GROUNDED, remote=True),
    Option("base_size", int, "Size in pixels of the view that shows the full page.", recipes=GROUNDED,
        remote=True, min=64, max=4096),
    Option("image_size", int, "Size in pixels of a tile of the page.", recipes=GROUNDED, remote=True, min=64,
        max=4096),
    Option("crop_mode", bool, "Show the model tiles of the page as well as the full page.", recipes=GROUNDED,
        remote=True),
    Option("prompt_mode", str, "What the model is asked for: markdown, ocr, free, figure or describe.",
        recipes=GROUNDED, remote=True, offers=("markdown", "ocr", "free", "figure", "describe")),
    Option("prompt", str, "A prompt of your own.", recipes=GROUNDED, remote=True, max_length=10_000),
    Option("locate", str, "Ask the model where this text is on the page.", recipes=GROUNDED, remote=True),
    Option("ngram", int, "Length in tokens of sequences that may not repeat. 0 allows all repetition.",
        recipes=GROUNDED, min=0),
    Option("ngram_window", int, "Number of latest tokens in which the n-gram rule looks for repetition.",
        recipes=GROUNDED, min=1),
    Option("ngram_keep", Sequence[int], "Token ids that the n-gram rule never bans, such as 128821,128822.",
        read=token_ids, recipes=GROUNDED),
    Option("max_tokens", int, "Maximum number of tokens in one answer.", recipes=MODEL_RECIPES, min=1),
    Option("max_model_len", int,
        "Context length in tokens of a server that Penstock starts: picture and answer.",
        recipes=MODEL_RECIPES, min=64, group="Servers"),
    Option("trust_remote_code", bool, "With engine hf: run the Python code that comes with the weights.",
        recipes=GROUNDED),
    Option("in_flight", int, "Number of requests that the servers get at once.", recipes=MODEL_RECIPES,
        min=1, group="Servers"),
    Option("margins", Margins, "Headers, footers and page numbers: drop or read.", recipes=REGIONS,
        remote=True),
    Option("second_reader", SecondReading,
        "Read each region once more, by the built-in readers: where both differ is shown by review.",
        recipes=REGIONS),
    Option("text_height", float, "Scale regions so that their print is this high, in pixels.",
        recipes=REGIONS, remote=True, min=8),
    Option("polygons", bool, "Cut regions along their outlines instead of their boxes.", recipes=REGIONS,
        remote=True, flags=("--polygons/--boxes",)),
    Option("api_key", str | None, "API key of the servers.", recipes=MODEL_RECIPES, group="Servers"),
    Option("max_pixels", int, "Refuse pictures with more pixels.", recipes=RECIPE_NAMES, min=1),
    Option("page_timeout", float, "Seconds after which a page counts as failed.", recipes=RECIPE_NAMES,
        min=1),
    Option("cores", int | None, "Number of CPU cores to use. Default: all.", recipes=RECIPE_NAMES, min=1,
        group="Running"),
)  # fmt: skip
