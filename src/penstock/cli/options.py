"""Options that verbs share, and where their values come from.

The command line wins over PENSTOCK_* variables, those over --config FILE (TOML), that over defaults.
"""

from __future__ import annotations

import inspect
import os
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from penstock.cli.log_file import LogLevelName, log_file, logging_from
from penstock.errors import UsageError

PREFIX = "PENSTOCK_"
# what help puts together, by the names of options; what is in no group is said under "Options"
GROUPS: dict[str, str] = {
    "Input": "pages max_pages password image_column id_column dataset revision queries limit data_dir box"
    " document label section labels camera_height pitch depth known same_room furniture",
    "Reading": "recipe lang dpi layout text_layer flatten effort margins text_height polygons max_pixels"
    " page_timeout vision resolution base_size image_size crop_mode prompt_mode prompt locate ngram"
    " ngram_window ngram_keep max_tokens trust_remote_code layout_threshold layout_merge layout_unclip"
    " layout_nms layout_compile layout_precision detector min_score mesh texture"
    " mesh_postprocess layout_postprocess",
    "Output": "out export to crops no_crops crop_names profile trace as_json quiet output_dir precision",
    "Servers": "server service model layout_model preset ocr_dtype max_model_len engine in_flight api_key"
    " ocr_model embedding_model embedding_server vision_server vision_model text_engine"
    " sam3d_python sam3d_config hf_repo hf_token public licence gpus gpu_mem_util"
    " http host port allow_host allow_folder keys max_mb",
    "Running": "retry_failed fresh dry_run cores executor config log log_level step skip resume workers"
    " batch_size help",
}
GROUP_OF = {name: group for group, names in GROUPS.items() for name in names.split()}
RECIPE_NAMES = ("documents", "glm-ocr", "paddleocr-vl", "openai", "grounded", "grounded-2")
FORMAT_NAMES = (
    "md", "md-joined", "jsonl", "html", "docjson", "docling", "content_list", "chunks", "searchable-pdf",
    "overlays", "glm",
)  # fmt: skip


def one_of(*names: str) -> Callable[[str], list[str]]:
    """What a shell offers for a value: the names that begin as what is typed."""

    def offered(typed: str) -> list[str]:
        return [name for name in names if name.startswith(typed)]

    return offered


def some_of(*names: str) -> Callable[[str], list[str]]:
    """The same for names between commas."""

    def offered(typed: str) -> list[str]:
        before, comma, last = typed.rpartition(",")
        chosen = before.split(",")
        return [before + comma + name for name in names if name.startswith(last) and name not in chosen]

    return offered


def _load_defaults(context: typer.Context, path: Path | None) -> Path | None:
    """Makes the file's and the environment's values the command's defaults."""
    known = {parameter.name: parameter for parameter in context.command.params if parameter.name}
    values = _from_file(path, context.info_name or "", set(known)) if path else {}
    for name in known:
        value = os.environ.get(PREFIX + name.upper())
        if value is not None:
            values[name] = value
    context.default_map = {**(context.default_map or {}), **values}
    return path


def _from_file(path: Path, verb: str, known: set[str]) -> dict[str, Any]:
    try:
        table = tomllib.loads(path.read_text("utf-8"))
    except OSError as exc:
        raise UsageError(f"Cannot read {path}: {exc.strerror}.") from exc
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as exc:
        raise UsageError(f"{path} is not TOML: {exc}.") from exc
    own = table.get(verb, {})
    flat = {key.replace("-", "_"): value for key, value in table.items() if not isinstance(value, dict)}
    flat |= {key.replace("-", "_"): value for key, value in own.items()}
    unknown = sorted(set(flat) - known)
    if unknown:
        raise UsageError(f"{path} sets {unknown[0]!r}, which `penstock {verb}` does not know.")
    return flat


def _log_to(context: typer.Context, path: Path | None) -> Path | None:
    if path is not None and not context.resilient_parsing:
        context.with_resource(log_file(path, context.default_map or {}))
    return path


def _log_from(context: typer.Context, level: LogLevelName) -> LogLevelName:
    if not context.resilient_parsing:
        context.with_resource(logging_from(level))
    return level


Config = Annotated[
    Path | None,
    typer.Option(
        "--config",
        help="TOML file with defaults for options: `dpi = 300`, or a [parse] table.",
        callback=_load_defaults,
        is_eager=True,
    ),
]
# before --log, whose first lines need it
LogLevel = Annotated[
    LogLevelName,
    typer.Option("--log-level", help="The least that is logged.", callback=_log_from, is_eager=True),
]
Log = Annotated[
    Path | None,
    typer.Option("--log", help="Append a log to this file; .jsonl: JSON lines.", callback=_log_to),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]


def _hush(wanted: bool) -> bool:
    from penstock.engines.weights import fetch_line

    fetch_line.silent = wanted
    return wanted


Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but what failed.", callback=_hush)]
Fresh = Annotated[bool, typer.Option(help="Forget what OUT holds and start over.")]
Cores = Annotated[int | None, typer.Option(help="CPU cores to use; all if not given.", min=1)]
Executor = Annotated[
    str,
    typer.Option(
        help="local; ray for the machines of a Ray cluster; inline for debugging.",
        autocompletion=one_of("local", "ray", "inline"),
    ),
]
CropNames = Annotated[
    str | None, typer.Option(help="Names of crops in exports: content, or page (PAGE_ID_crop_2.jpg).")
]
Results = Annotated[Path, typer.Option("--out", "-o", help="Folder for the results; a run there is resumed.")]
ResultsOrNone = Annotated[
    Path | None,
    typer.Option(
        "--out", "-o", help="Folder for the results; a run there is resumed. Without: Markdown is printed."
    ),
]
Lang = Annotated[str | None, typer.Option(help="Languages: ko, en, zh, ja, ...; found out if not given.")]
Servers = Annotated[
    list[str] | None, typer.Option("--server", help="A model server that runs already; repeatable.")
]
Model = Annotated[str | None, typer.Option(help="The model as the server calls it, or a folder.")]
LayoutModel = Annotated[
    str | None, typer.Option(help="PP-DocLayoutV3: a folder, a name on the Hub; documents: an ONNX file.")
]
Preset = Annotated[str | None, typer.Option(help="Flags of a server that is started; see engine.")]
OcrDtype = Annotated[str | None, typer.Option(help="Numbers of a server that is started: auto, bf16, fp8.")]
VISIONS = "auto (fast where it fits), fast, plain (vLLM's own), fp8"
Engine = Annotated[str | None, typer.Option(help="grounded recipes: vllm, or hf (transformers).")]
InFlight = Annotated[int | None, typer.Option(help="Requests in flight at the servers.", min=1)]
ApiKey = Annotated[str | None, typer.Option(help="Key of the servers.")]
Precision = Annotated[str, typer.Option(help="Numbers of the .npy files: float32, float16, int8.")]
HfToken = Annotated[
    str | None, typer.Option(help="Token; better in HF_TOKEN.", envvar="HF_TOKEN", show_envvar=False)
]
Licence = Annotated[
    str,
    typer.Option("--license", help="Licence of what is uploaded, like cc-by-4.0; the sources' own if empty."),
]
Out = Annotated[Path, typer.Argument(help="The folder of a run.", metavar="OUT", show_default=False)]

# What only some recipes take, so that verbs need not write it out; see `with_recipe_options`.
_Text, _Number, _Switch = str | None, int | None, bool | None
RECIPE_OPTIONS: dict[str, Any] = {
    "flatten": Annotated[
        _Text, typer.Option(help="documents: photographs of pages made flat: auto, off or always.")
    ],
    "effort": Annotated[
        _Text,
        typer.Option(
            help="documents: fast, balanced or best: what reading a picture may cost. Balanced if not given.",
            autocompletion=one_of("fast", "balanced", "best"),
        ),
    ],
    "vision": Annotated[_Text, typer.Option(help=f"glm-ocr: vision tower of a server we start: {VISIONS}.")],
    "resolution": Annotated[
        _Text,
        typer.Option(help="grounded: tiny, small, base, large, gundam, untiled, or pixels as 1024+640."),
    ],
    "base_size": Annotated[_Number, typer.Option(help="grounded: pixels of the whole view.", min=1)],
    "image_size": Annotated[_Number, typer.Option(help="grounded: pixels of a tile.", min=1)],
    "crop_mode": Annotated[
        _Switch, typer.Option("--crop-mode/--no-crop-mode", help="grounded: show tiles of the page, too.")
    ],
    "prompt_mode": Annotated[
        _Text, typer.Option(help="grounded: ask for markdown, ocr, free, figure or describe.")
    ],
    "prompt": Annotated[_Text, typer.Option(help="grounded: ask this instead.")],
    "locate": Annotated[_Text, typer.Option(help="grounded: ask where this text stands.")],
    "ngram": Annotated[
        _Number, typer.Option(help="grounded: forbid this many tokens twice; 0 forbids none.", min=0)
    ],
    "ngram_window": Annotated[_Number, typer.Option(help="grounded: within so many tokens.", min=1)],
    "ngram_keep": Annotated[_Text, typer.Option(help="grounded: but never these token numbers.")],
    "max_tokens": Annotated[
        _Number, typer.Option(help="Tokens of one answer at most; glm-ocr 8192, grounded 7000.", min=1)
    ],
    "max_model_len": Annotated[
        _Number, typer.Option(help="Context of a server that is started: picture and answer.", min=64)
    ],
    "trust_remote_code": Annotated[
        _Switch, typer.Option("--trust-remote-code", help="grounded --engine hf: run the weights' own code.")
    ],
    "layout_threshold": Annotated[
        _Text, typer.Option(help="Least score of a region: 0.3, or by class: text=0.4,table=0.5.")
    ],
    "layout_merge": Annotated[
        _Text, typer.Option(help="Of boxes inside boxes keep the large, small or all (union); or by class.")
    ],
    "layout_unclip": Annotated[
        _Text, typer.Option(help="Grow boxes by a factor: 1.02, width x height: 1.1x1.0; or by class.")
    ],
    "layout_nms": Annotated[
        _Switch, typer.Option("--layout-nms/--no-layout-nms", help="Drop regions that were found twice.")
    ],
    "layout_compile": Annotated[
        _Switch, typer.Option("--layout-compile", help="Compile the layout network; pays on long runs.")
    ],
    "layout_precision": Annotated[
        _Text, typer.Option(help="Numbers of the layout network: fp32, fp16, bf16.")
    ],
}


def with_recipe_options(verb: Callable[..., None]) -> Callable[..., None]:
    """Gives a verb the options of RECIPE_OPTIONS; those that were given reach it in `more`."""
    own = inspect.signature(verb, eval_str=True)
    parameters = [parameter for parameter in own.parameters.values() if parameter.name != "more"]
    parameters += [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind)
        for name, kind in RECIPE_OPTIONS.items()
    ]

    def called(**given: Any) -> None:
        more = {name: given.pop(name) for name in RECIPE_OPTIONS}
        verb(**given, more={name: value for name, value in more.items() if value is not None})

    called.__name__, called.__doc__ = verb.__name__, verb.__doc__
    called.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
    called.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return called


def recipe_settings(**given: Any) -> dict[str, Any]:
    """The options that were given, in the recipe's own terms."""
    settings = {name: value for name, value in given.items() if value is not None}
    for name in ("lang", "labels"):
        if name in settings:
            settings[name] = tuple(words(settings[name]))
    if "server" in settings:
        settings["server"] = tuple(settings["server"])
    if "ngram_keep" in settings:
        settings["ngram_keep"] = _token_numbers(settings["ngram_keep"])
    return settings


def _token_numbers(text: str) -> tuple[int, ...]:
    if not all(word.isdecimal() for word in words(text)):
        raise UsageError(f"--ngram-keep {text} are not numbers of tokens.", "Write 128821,128822.")
    return tuple(int(word) for word in words(text))


def words(text: str) -> list[str]:
    """'md, jsonl' -> ['md', 'jsonl']."""
    return [part.strip() for part in text.split(",") if part.strip()]
