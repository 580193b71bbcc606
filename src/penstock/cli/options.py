"""How the table of options becomes the command line's, and where values come from.

The command line wins over PENSTOCK_* variables, those over --config FILE (TOML), that over defaults.
"""

from __future__ import annotations

import inspect
import os
import tomllib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from penstock.cli.running.log_file import LogLevelName, log_file, logging_from
from penstock.errors import UsageError
from penstock.object_stores import is_hub_address, is_object_address, local_path
from penstock.options.option import GROUPS, Option
from penstock.store.remote import mirrored

PREFIX = "PENSTOCK_"
FORMAT_NAMES = (
    "md", "md-joined", "jsonl", "html", "docjson", "docling", "content_list", "chunks", "searchable-pdf",
    "overlays", "glm", "corpus",
)  # fmt: skip
NUMBERS = (int, float)
# options that a single verb has, in the groups of the help
of_input, of_reading, of_output, of_servers, of_running = (
    partial(typer.Option, rich_help_panel=group) for group in GROUPS
)


def one_of(*names: str) -> Callable[[str], list[str]]:
    """Returns what a shell offers for a value: the names that begin as what is typed."""

    def offered(typed: str) -> list[str]:
        return [name for name in names if name.startswith(typed)]

    return offered


def some_of(*names: str) -> Callable[[str], list[str]]:
    """Returns the same for names between commas."""

    def offered(typed: str) -> list[str]:
        before, comma, last = typed.rpartition(",")
        chosen = before.split(",")
        return [before + comma + name for name in names if name.startswith(last) and name not in chosen]

    return offered


def with_options(*options: Option) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Gives a verb --config, --log and --log-level, and options of the table.

    Those of the table that have a value reach it by name in `given`.
    """

    def wrapped(verb: Callable[..., None]) -> Callable[..., None]:
        own = inspect.signature(verb, eval_str=True)
        parameters = [one for one in own.parameters.values() if one.name != "given"] + COMMON
        table = [_parameter(option) for option in options]

        def called(**values: Any) -> None:
            given = {one.name: values.pop(one.name) for one in (*COMMON, *table)}
            known = {one.name: given[one.name] for one in table if given[one.name] is not None}
            verb(**values, **({"given": known} if table else {}))

        called.__name__, called.__doc__ = verb.__name__, verb.__doc__
        called.__signature__ = own.replace(parameters=[*parameters, *table])  # type: ignore[attr-defined]
        called.__annotations__ = {one.name: one.annotation for one in (*parameters, *table)}
        return called

    return wrapped


def _parameter(option: Option) -> inspect.Parameter:
    """Returns an option as a verb's parameter. Options of a recipe that are not given are None."""
    name, kind = option.shell_name or option.name, _shell_type(option)
    offers = option.choices or option.offers
    shown = typer.Option(
        *(option.flags or (() if kind is bool else (option.flag,))),
        help=option.description,
        min=option.min if kind in NUMBERS else None,
        max=option.max if kind in NUMBERS else None,
        autocompletion=one_of(*offers) if offers else None,
        rich_help_panel=option.group,
    )
    default = option.default if option.default != () else None
    taken: Any = kind if default is not None else kind | None
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[taken, shown]
    )


def _shell_type(option: Option) -> Any:
    """Returns the type that a shell's words become: text for all that is no number, switch or path."""
    if option.several == "repeated":
        return list[str]
    kinds = option.kinds
    return kinds[0] if len(kinds) == 1 and kinds[0] in (*NUMBERS, bool, Path) else str


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


def _here(context: typer.Context, out: Path | None) -> Path | None:
    """Returns OUT as a folder of this machine. An address has a mirror here, for as long as the verb runs."""
    if out is None or context.resilient_parsing:
        return out
    if is_hub_address(out):
        raise UsageError("A run writes nothing to the Hub.", "Choose a folder; then: penstock upload OUT")
    if not is_object_address(out):
        return Path(local_path(str(out)))
    reads_all = context.info_name != "parse"  # which needs to know rows, not crops
    return context.with_resource(mirrored(str(out), everything=reads_all))


def _hush(wanted: bool) -> bool:
    from penstock.engines.weights import fetch_line

    fetch_line.silent = wanted
    return wanted


_Config = Annotated[
    Path | None,
    of_running(
        "--config",
        help="TOML file with defaults for options: `dpi = 300`, or a [parse] table.",
        callback=_load_defaults,
        is_eager=True,
    ),
]
# before --log, whose first lines need it
_LogLevel = Annotated[
    LogLevelName,
    of_running("--log-level", help="Lowest level that is logged.", callback=_log_from, is_eager=True),
]
_Log = Annotated[
    Path | None,
    of_running("--log", help="File to append a log to; .jsonl writes JSON lines.", callback=_log_to),
]
COMMON = [  # of every verb
    inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
    for name, default, kind in (
        ("config", None, _Config),
        ("log", None, _Log),
        ("log_level", "info", _LogLevel),
    )
]
AsJson = Annotated[bool, of_output("--json", help="Print JSON for programs.")]
Quiet = Annotated[bool, of_output("--quiet", "-q", help="Print failures only.", callback=_hush)]
CropNames = Annotated[
    str | None,
    of_output(
        "--crop-names", help="Names of crops in exports: content (a hash), or page (PAGE_ID_crop_2.jpg)."
    ),
]
Results = Annotated[
    Path, of_output("--out", "-o", help="Folder for the results. A run there is resumed.", callback=_here)
]
ResultsOrNone = Annotated[
    Path | None,
    of_output(
        "--out",
        "-o",
        help="Folder for the results. A run there is resumed. Without it Markdown is printed.",
        callback=_here,
    ),
]
HfToken = Annotated[
    str | None,
    of_servers(
        "--hf-token",
        help="Token of the Hugging Face Hub. The variable HF_TOKEN is safer.",
        envvar="HF_TOKEN",
        show_envvar=False,
    ),
]
Rerank = Annotated[
    str, of_servers("--rerank", help="Address of a server with /v1/rerank that puts the best hits in order.")
]
RerankModel = Annotated[
    str, of_servers("--rerank-model", help="Its model. Default: the first model of the server.")
]
RerankKey = Annotated[str | None, of_servers("--rerank-key", help="API key of that server.")]
Licence = Annotated[
    str,
    of_servers("--license", help="Licence of the upload, such as cc-by-4.0. Default: the sources' own."),
]
Out = Annotated[
    Path, typer.Argument(help="The folder of a run.", metavar="OUT", show_default=False, callback=_here)
]
