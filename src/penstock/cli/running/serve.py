"""Runs the service of `penstock serve`."""

from __future__ import annotations

import contextlib
import signal
import socket
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penstock.cli.running.listening import address, is_open
from penstock.errors import UsageError
from penstock.passes.parse import ParseOptions
from penstock.passes.photos import PhotoOptions
from penstock.passes.service import served_options
from penstock.processes.garbage import keep_what_is_loaded
from penstock.serve.app import ServiceSettings
from penstock.serve.guard.keys import KeyRing
from penstock.serve.guard.remote_files import RemoteFiles
from penstock.serve.jobs.callbacks import ADVICE, CallbackSettings, read_secret
from penstock.serve.reading.service import Service
from penstock.serve.server import service_server

OPEN_WARNING = (
    "Warning: everyone who reaches this address can read and send documents: there is no login."
    " Give keys (--keys), listen on 127.0.0.1, or put a proxy with a login in front."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Operating:
    """The options of the command line that are for the server."""

    max_mb: int
    names: Sequence[str]
    origins: Sequence[str]
    keys: Path | None
    url_hosts: Sequence[str]
    callback_targets: Sequence[str]
    callback_secret: Path | None
    keep_hours: float | None
    jobs_at_once: int | None

    def service_settings(
        self, options: ParseOptions | PhotoOptions | None, sam3d: Mapping[str, Any], is_open: bool
    ) -> ServiceSettings:
        usual = PhotoOptions(photos=(), sam3d=sam3d)
        return ServiceSettings(
            max_mb=self.max_mb,
            names=self.names,
            origins=self.origins,
            keys=KeyRing.open(self.keys) if self.keys is not None else KeyRing(),
            remote=RemoteFiles(self.url_hosts),
            callbacks=callback_settings(self.callback_targets, self.callback_secret),
            reading=options if isinstance(options, ParseOptions) else None,
            jobs_at_once=self.jobs_at_once,
            measuring=options if isinstance(options, PhotoOptions) else usual,
            keep_s=None if self.keep_hours is None else self.keep_hours * 3600,
            is_open=is_open and self.keys is None,
        )


def run_service(
    out: Path,
    recipe: str | None,
    settings: Mapping[str, Any],
    sam3d: Mapping[str, Any],
    listening: socket.socket,
    operating: Operating,
) -> None:
    """Answers until it is stopped."""
    options = served_options(out, recipe, settings, sam3d)
    plan = None if options is None else options.plan()
    chosen = operating.service_settings(options, sam3d, is_open(listening))
    with Service(out, plan, probes=True) as service:
        server = service_server(service, chosen)
        keep_what_is_loaded()
        what = "reads what it is sent" if plan else "shows what is there"
        print(f"{address(listening)} {what}; Ctrl-C ends it.", file=sys.stderr, flush=True)
        if chosen.is_open:
            print(OPEN_WARNING, file=sys.stderr, flush=True)
        # uvicorn raises what ended it once more when it is done: for us both are an ordinary end
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        with contextlib.suppress(KeyboardInterrupt):
            server.run(sockets=[listening])
    if service.error is not None:
        raise service.error


def callback_settings(targets: Sequence[str], secret: Path | None) -> CallbackSettings:
    if not targets:
        return CallbackSettings()
    if secret is None:
        raise UsageError("--allow-callback needs --callback-secret FILE.", ADVICE)
    return CallbackSettings.of(targets, read_secret(secret))
