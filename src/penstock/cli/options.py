"""Options that are the same for every verb, and where their values come from.

The command line wins over PENSTOCK_* variables, those over --config FILE (TOML), that over defaults.
"""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Annotated, Any

import typer

from penstock.cli.log_file import LogLevelName, log_file, logging_from
from penstock.errors import UsageError

PREFIX = "PENSTOCK_"


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
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress display.")]
Fresh = Annotated[bool, typer.Option(help="Forget what OUT holds and start over.")]
Cores = Annotated[int | None, typer.Option(help="CPU cores to use; all if not given.", min=1)]
Executor = Annotated[
    str, typer.Option(help="local; ray for the machines of a Ray cluster; inline for debugging.")
]
CropNames = Annotated[
    str | None, typer.Option(help="Names of crops in exports: content, or page (doc_page_0_crop_2.jpg).")
]
Results = Annotated[Path, typer.Option("--out", "-o", help="Folder for the results; a run there is resumed.")]
Lang = Annotated[str | None, typer.Option(help="Languages: ko, en, zh, ja, ...; found out if not given.")]
Servers = Annotated[
    list[str] | None, typer.Option("--server", help="A model server that runs already; repeatable.")
]
Model = Annotated[str | None, typer.Option(help="The model as the server calls it, or a folder.")]
LayoutModel = Annotated[str | None, typer.Option(help="Folder or hub name of PP-DocLayoutV3.")]
Preset = Annotated[str | None, typer.Option(help="Flags of a server that is started; see engine.")]
InFlight = Annotated[int | None, typer.Option(help="Requests in flight at the servers.", min=1)]
ApiKey = Annotated[str | None, typer.Option(help="Key of the servers.")]
Precision = Annotated[str, typer.Option(help="Numbers of the .npy files: float32, float16, int8.")]
HfToken = Annotated[
    str | None, typer.Option(help="Token; better in HF_TOKEN.", envvar="HF_TOKEN", show_envvar=False)
]
Out = Annotated[Path, typer.Argument(help="The folder of a run.", metavar="OUT", show_default=False)]


def recipe_settings(**given: Any) -> dict[str, Any]:
    """The options that were given, in the recipe's own terms."""
    settings = {name: value for name, value in given.items() if value is not None}
    for name in ("lang", "labels"):
        if name in settings:
            settings[name] = tuple(words(settings[name]))
    if "server" in settings:
        settings["server"] = tuple(settings["server"])
    return settings


def words(text: str) -> list[str]:
    """'md, jsonl' -> ['md', 'jsonl']."""
    return [part.strip() for part in text.split(",") if part.strip()]
