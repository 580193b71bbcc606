"""`penstock serve`: a run over HTTP, and documents that are sent to be read."""

from __future__ import annotations

import contextlib
import signal
import socket
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

from penstock.cli.options import (
    ApiKey,
    Config,
    Cores,
    Lang,
    Log,
    LogLevel,
    Model,
    OcrDtype,
    Preset,
    Servers,
    recipe_settings,
    with_recipe_options,
)
from penstock.cli.services.listening import address, is_open, listening_on
from penstock.cli.volumes import sam3d_settings
from penstock.errors import UsageError
from penstock.extras import need_extra
from penstock.processes.garbage import keep_what_is_loaded

if TYPE_CHECKING:
    from penstock.plan import Plan
    from penstock.serve.app import ServiceSettings
    from penstock.serve.jobs.callbacks import CallbackSettings

OUT = Path("served")
OPEN_WARNING = (
    "Warning: whoever reaches this address can read and send documents: there is no login."
    " Give keys (--keys), listen on 127.0.0.1, or put a proxy with a login in front."
)

NEW_KEY_HELP = "Add a key to --keys, print it once, and end: NAME, NAME:SCOPE or NAME:SCOPE:A_MINUTE:MB."
Keys = Annotated[Path | None, Option(help="A file of API keys; made by --new-key.")]
NewKey = Annotated[str | None, Option(help=NEW_KEY_HELP)]
ServedRecipe = Annotated[
    str | None, Option(help="Take documents and read them with this pipeline; documents, where OUT is new.")
]
HostNames = Annotated[
    list[str] | None,
    Option(help="A name it is asked by, as behind a proxy; addresses and this machine's are known."),
]
Origins = Annotated[
    list[str] | None,
    Option(
        help="An origin whose web pages may use the API: https://app.example.org. Exact; none by default."
    ),
]
UrlHosts = Annotated[
    list[str] | None, Option(help="A host that files may be fetched from by address; *.NAME for all below.")
]
CallbackTargets = Annotated[
    list[str] | None,
    Option(help="Where callbacks may go: NAME[:PORT], *.NAME, or a private ADDRESS[:PORT] or NETWORK/BITS."),
]
CallbackSecret = Annotated[Path | None, Option(help="A file with the secret that signs callbacks.")]
JobsAtOnce = Annotated[
    int | None, Option(help="Jobs with options of their own side by side; 2, with a GPU 1.", min=1, max=16)
]
KeepHours = Annotated[float | None, Option(help="Delete a job's results so long after its end.", min=0)]


@with_recipe_options
def serve(
    out: Annotated[Path, typer.Argument(help="The folder of a run, or of one to begin.")] = OUT,
    recipe: ServedRecipe = None,
    host: Annotated[str, Option(help="Address to listen on; 0.0.0.0 for every one.")] = "127.0.0.1",
    port: Annotated[int, Option(help="Port to listen on.", min=0, max=65535)] = 8080,
    allow_host: HostNames = None,
    allow_origin: Origins = None,
    max_mb: Annotated[int, Option("--max-mb", help="Refuse larger requests.", min=1)] = 512,
    keys: Keys = None,
    new_key: NewKey = None,
    allow_url_host: UrlHosts = None,
    allow_callback: CallbackTargets = None,
    callback_secret: CallbackSecret = None,
    keep_hours: KeepHours = None,
    jobs_at_once: JobsAtOnce = None,
    lang: Lang = None,
    layout: Annotated[str | None, Option(help="How regions are found; see parse.")] = None,
    server: Servers = None,
    model: Model = None,
    preset: Preset = None,
    ocr_dtype: OcrDtype = None,
    api_key: ApiKey = None,
    detector: Annotated[str | None, Option(help="photos: what finds things; see volumes.")] = None,
    engine: Annotated[str | None, Option(help="photos: silhouette or sam3d; grounded: vllm or hf.")] = None,
    labels: Annotated[str | None, Option(help="photos: things to look for, with commas.")] = None,
    sam3d_python: Annotated[str | None, Option(help="photos: the Python that has SAM-3D.")] = None,
    sam3d_config: Annotated[str | None, Option(help="photos: SAM-3D's pipeline.yaml.")] = None,
    moge: Annotated[str | None, Option(help="photos: MoGe-2 weights for depth; see volumes.")] = None,
    cores: Cores = None,
    config: Config = None,
    log: Log = None,
    log_level: LogLevel = "info",
    *,
    more: dict[str, Any],
) -> None:
    """Show a run's documents, pages and search, and with a recipe read what is sent.

    Without --keys there is no login: keep it on this machine, or behind a proxy that has one (then
    --allow-host its name).
    """
    if new_key is not None:
        _print_new_key(keys, new_key)
        return
    settings = recipe_settings(
        lang=lang, layout=layout, server=server, model=model, preset=preset, ocr_dtype=ocr_dtype,
        api_key=api_key, detector=detector, engine=engine, labels=labels, cores=cores, **more,
    )  # fmt: skip
    sam3d = sam3d_settings(python=sam3d_python, config=sam3d_config, moge=moge)
    plan = _plan(out, recipe, settings, sam3d)
    asked = _Operating(
        max_mb, allow_host or [], allow_origin or [], keys, allow_url_host or [], allow_callback or [],
        callback_secret, keep_hours, recipe, settings, sam3d, jobs_at_once,
    )  # fmt: skip
    with listening_on(host, port) as listening:
        _run(out, plan, listening, asked)


@dataclass(frozen=True, slots=True)
class _Operating:
    """The options of the command line that are for the server."""

    max_mb: int
    names: list[str]
    origins: list[str]
    keys: Path | None
    url_hosts: list[str]
    callback_targets: list[str]
    callback_secret: Path | None
    keep_hours: float | None
    recipe: str | None
    settings: dict[str, Any] = field(repr=False)
    sam3d: dict[str, Any]
    jobs_at_once: int | None

    def service_settings(self, plan: Plan | None, is_open: bool) -> ServiceSettings:
        from penstock.passes.parse import ParseOptions
        from penstock.serve.app import KeyRing, PhotoOptions, RemoteFiles, ServiceSettings

        reading = None
        of_photos = self.settings if self.recipe == "photos" else {}
        if plan is not None and self.recipe != "photos":
            reading = ParseOptions(inputs=(), recipe=self.recipe or "documents", settings=self.settings)
        return ServiceSettings(
            max_mb=self.max_mb,
            names=self.names,
            origins=self.origins,
            keys=KeyRing.open(self.keys) if self.keys is not None else KeyRing(),
            remote=RemoteFiles(self.url_hosts),
            callbacks=_callbacks(self.callback_targets, self.callback_secret),
            reading=reading,
            jobs_at_once=self.jobs_at_once,
            measuring=PhotoOptions(photos=(), settings=of_photos, sam3d=self.sam3d),
            keep_s=None if self.keep_hours is None else self.keep_hours * 3600,
            is_open=is_open and self.keys is None,
        )


def _callbacks(targets: list[str], secret: Path | None) -> CallbackSettings:
    from penstock.serve.jobs.callbacks import ADVICE, CallbackSettings, read_secret

    if not targets:
        return CallbackSettings()
    if secret is None:
        raise UsageError("--allow-callback needs --callback-secret FILE.", ADVICE)
    return CallbackSettings.of(targets, read_secret(secret))


def _print_new_key(path: Path | None, asked: str) -> None:
    from penstock.serve.guard.keys import new_key

    if path is None:
        raise UsageError("--new-key needs a file to add the key to.", "Name it: --keys keys.json.")
    name, scope, rate, max_mb, *_ = (*asked.split(":"), "", "", "")
    if not (rate or "0").isdecimal() or not (max_mb or "0").isdecimal():
        raise UsageError(f"--new-key {asked} is no key.", "Write NAME:SCOPE:REQUESTS_A_MINUTE:MB.")
    print(new_key(path, name, scope or "write", int(rate or 0), int(max_mb or 0)))


def _plan(out: Path, recipe: str | None, settings: dict[str, Any], sam3d: dict[str, Any]) -> Plan | None:
    """None where a run is only shown: OUT has one, and nobody named a recipe."""
    from penstock.passes.parse import ParseOptions, as_begun
    from penstock.passes.photos import PhotoOptions
    from penstock.store.out import Out

    given = {**settings, **{f"sam3d_{name}": value for name, value in sam3d.items()}}
    if recipe is None and Out(out).run():
        if given:
            word = next(iter(given)).replace("_", "-")
            raise UsageError(f"--{word} is for reading documents.", "Name the run's recipe too: --recipe.")
        return None
    if recipe == "photos":
        return PhotoOptions(photos=(), settings=settings, sam3d=sam3d).plan()
    return as_begun(ParseOptions(inputs=(), recipe=recipe or "documents", settings=settings), out).plan()


def _run(out: Path, plan: Plan | None, listening: socket.socket, asked: _Operating) -> None:
    need_extra("serve", "The service")
    from penstock.serve.reading.service import Service
    from penstock.serve.server import service_server

    settings = asked.service_settings(plan, is_open(listening))
    with Service(out, plan, probes=True) as service:
        server = service_server(service, settings)
        keep_what_is_loaded()
        what = "reads what it is sent" if plan else "shows what is there"
        print(f"{address(listening)} {what}; Ctrl-C ends it.", file=sys.stderr, flush=True)
        if settings.is_open:
            print(OPEN_WARNING, file=sys.stderr, flush=True)
        # uvicorn raises what ended it once more when it is done: for us both are an ordinary end
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        with contextlib.suppress(KeyboardInterrupt):
            server.run(sockets=[listening])
    if service.error is not None:
        raise service.error
