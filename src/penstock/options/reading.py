"""The options of the recipes for pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from penstock.engines.chat.region_tasks import Margins
from penstock.engines.layout.settings import Merge, Precision
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
from penstock.stages.orient import FlattenUse
from penstock.stages.recognise import LayerUse
from penstock.vllm_plugin import Vision

WITH_LAYOUT = (*DOCUMENTS, *REGIONS)

READING: tuple[Option, ...] = (
    Option(
        name="dpi", type=int, recipes=RECIPE_NAMES, remote=True, min=36, max=600,
        help="Resolution at which PDF pages are rendered.",
    ),
    Option(
        name="lang", type=str | Sequence[str], several="words", recipes=DOCUMENTS, remote=True, max_length=20,
        help="Languages of the pages, such as ko,en. Recognised from the page if not given.",
    ),
    Option(
        name="layout", type=Literal["model", "rules", "auto", "pp-doclayoutv3", "cdla"],
        recipes=WITH_LAYOUT, remote=True,
        help="How regions are found. documents: model, rules (fonts and geometry) or pp-doclayoutv3 (a larger"
        " network, 131 MB). Recipes with a model server: auto, pp-doclayoutv3 (needs torch) or cdla (CPU).",
    ),
    Option(
        name="text_layer", type=LayerUse, recipes=DOCUMENTS, remote=True,
        help="When the text inside a PDF is used: auto (if it can be trusted), always or never.",
    ),
    Option(
        name="flatten", type=FlattenUse, recipes=DOCUMENTS, remote=True,
        help="Flatten photographs of pages: auto (if it looks like one), off or always.",
    ),
    Option(
        name="effort", type=Effort, recipes=DOCUMENTS, remote=True,
        help="Time spent on reading pictures: fast, balanced or best.",
    ),
    Option(
        name="crops", type=bool, recipes=RECIPE_NAMES, remote=True,
        help="Keep crops of pictures, charts, tables and formulas.",
    ),
    Option(
        name="password", type=str | None, recipes=RECIPE_NAMES, remote=True, group="Input",
        help="Password of encrypted PDFs.",
    ),
    Option(
        name="server", type=str | Sequence[str], several="repeated", recipes=MODEL_RECIPES, group="Servers",
        help="Address of a model server that is already running. Repeat it for several.",
    ),
    Option(
        name="model", type=str, recipes=MODEL_RECIPES, group="Servers",
        help="Model name as the server knows it, or the folder of a model.",
    ),
    Option(
        name="layout_model", type=str, recipes=WITH_LAYOUT, group="Servers",
        help="Weights of PP-DocLayoutV3: a folder or a name on the Hub; for documents also an ONNX file.",
    ),
    Option(
        name="layout_threshold", type=float | Mapping[str, float], recipes=WITH_LAYOUT, remote=True,
        help="Lowest score of a region: 0.3 for all classes, or by class: text=0.4,table=0.5.",
    ),
    Option(
        name="layout_merge", type=Merge | Mapping[str, Merge], recipes=REGIONS, remote=True,
        help="Which of two nested boxes stays: large, small, or union for both; or by class.",
    ),
    Option(
        name="layout_unclip", type=float | tuple[float, float] | Mapping[str, float | tuple[float, float]],
        recipes=REGIONS, remote=True,
        help="Factor by which boxes grow: 1.02, or width x height: 1.1x1.0; or by class.",
    ),
    Option(
        name="layout_nms", type=bool, recipes=REGIONS, remote=True,
        help="Drop regions that were found twice.",
    ),
    Option(
        name="layout_compile", type=bool, recipes=REGIONS,
        help="Compile the layout network, which pays off on long runs.",
    ),
    Option(
        name="layout_precision", type=Precision, recipes=REGIONS,
        help="Numeric precision of the layout network: fp32, fp16 or bf16.",
    ),
    Option(
        name="preset", type=str, recipes=MODEL_RECIPES, group="Servers",
        help="Settings of a server that Penstock starts; `penstock engine start --help` lists them.",
    ),
    Option(
        name="ocr_dtype", type=Literal["auto", "bf16", "fp8"], recipes=MODEL_RECIPES, group="Servers",
        help="Numeric precision of a server that Penstock starts: auto, bf16 or fp8.",
    ),
    Option(
        name="vision", type=Vision, recipes=REGIONS, group="Servers",
        help="Vision tower of a GLM-OCR server that Penstock starts: auto (fast where it fits), fast, fp8, or"
        " plain (vLLM's own).",
    ),
    Option(
        name="engine", type=Literal["vllm", "hf"], recipes=GROUNDED, group="Servers",
        help="What runs the model: vllm (a server), or hf (transformers in this process).",
    ),
    Option(
        name="resolution", type=str, recipes=GROUNDED, remote=True,
        help="Resolution of the views: tiny, small, base, large, gundam, untiled, or pixels: 1024+640.",
    ),
    Option(
        name="base_size", type=int, recipes=GROUNDED, remote=True, min=64, max=4096,
        help="Size in pixels of the view that shows the full page.",
    ),
    Option(
        name="image_size", type=int, recipes=GROUNDED, remote=True, min=64, max=4096,
        help="Size in pixels of a tile of the page.",
    ),
    Option(
        name="crop_mode", type=bool, recipes=GROUNDED, remote=True,
        help="Show the model tiles of the page as well as the full page.",
    ),
    Option(
        name="prompt_mode", type=str, recipes=GROUNDED, remote=True,
        offers=("markdown", "ocr", "free", "figure", "describe"),
        help="What the model is asked for: markdown, ocr, free, figure or describe.",
    ),
    Option(
        name="prompt", type=str, recipes=GROUNDED, remote=True, max_length=10_000,
        help="A prompt of your own.",
    ),
    Option(
        name="locate", type=str, recipes=GROUNDED, remote=True,
        help="Ask the model where this text is on the page.",
    ),
    Option(
        name="ngram", type=int, recipes=GROUNDED, min=0,
        help="Length in tokens of sequences that may not repeat. 0 allows all repetition.",
    ),
    Option(
        name="ngram_window", type=int, recipes=GROUNDED, min=1,
        help="Number of latest tokens in which the n-gram rule looks for repetition.",
    ),
    Option(
        name="ngram_keep", type=Sequence[int], read=token_ids, recipes=GROUNDED,
        help="Token ids that the n-gram rule never bans, such as 128821,128822.",
    ),
    Option(
        name="max_tokens", type=int, recipes=MODEL_RECIPES, min=1,
        help="Maximum number of tokens in one answer.",
    ),
    Option(
        name="max_model_len", type=int, recipes=MODEL_RECIPES, min=64, group="Servers",
        help="Context length in tokens of a server that Penstock starts: picture and answer.",
    ),
    Option(
        name="trust_remote_code", type=bool, recipes=GROUNDED,
        help="With engine hf: run the Python code that comes with the weights.",
    ),
    Option(
        name="in_flight", type=int, recipes=MODEL_RECIPES, min=1, group="Servers",
        help="Number of requests that the servers get at once.",
    ),
    Option(
        name="margins", type=Margins, recipes=REGIONS, remote=True,
        help="Headers, footers and page numbers: drop or read.",
    ),
    Option(
        name="text_height", type=float, recipes=REGIONS, remote=True, min=8,
        help="Scale regions so that their print is this high, in pixels.",
    ),
    Option(
        name="polygons", type=bool, recipes=REGIONS, remote=True, flags=("--polygons/--boxes",),
        help="Cut regions along their outlines instead of their boxes.",
    ),
    Option(
        name="api_key", type=str | None, recipes=MODEL_RECIPES, group="Servers",
        help="API key of the servers.",
    ),
    Option(
        name="max_pixels", type=int, recipes=RECIPE_NAMES, min=1,
        help="Refuse pictures with more pixels.",
    ),
    Option(
        name="page_timeout", type=float, recipes=RECIPE_NAMES, min=1,
        help="Seconds after which a page counts as failed.",
    ),
    Option(
        name="cores", type=int | None, recipes=RECIPE_NAMES, min=1, group="Running",
        help="Number of CPU cores to use. Default: all.",
    ),
)  # fmt: skip
