"""The file of `--log`: one line a thing, with its time and level.

A name that ends in .jsonl gives JSON lines. The name decides and not an option of its own: the reader of the
file later has only its name. Keys, tokens and passwords never get into it.
"""

from __future__ import annotations

import itertools
import json
import logging
import os
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import typer

from penstock import __version__
from penstock.errors import PenstockError, UsageError, first_line
from penstock.redaction import redacted

LogLevelName = Literal["debug", "info", "warning", "error"]
SECRETS = ("api_key", "hf_token", "password")
MIN_SECRET = 6  # letters; hiding a shorter one would blot out ordinary words and numbers
# what a command tells on its own at its end; a warning of the others goes to the terminal, too
TOLD_AT_THE_END = ("penstock.driver", "penstock.runner", "penstock.executors.local", "penstock.cli")
TREE = logging.getLogger("penstock")
log = logging.getLogger(__name__)


@contextmanager
def logging_from(level: LogLevelName) -> Iterator[None]:
    """Lets records of this level and above through while the block works."""
    before = TREE.level
    TREE.setLevel(level.upper())
    try:
        yield
    finally:
        TREE.setLevel(before)


@contextmanager
def log_file(path: Path, options: Mapping[str, Any]) -> Iterator[None]:
    """Appends to `path` while the block works: how it began, all that is logged meanwhile, how it ended.

    `options` are those that did not come from the command line.
    """
    from penstock.store.manifest import command

    handler = _opened(path)
    handler.setFormatter(_formatter(path, _secret_values(sys.argv, options)))
    TREE.addHandler(handler)
    began = time.monotonic()
    log.info("penstock %s begins: %s", __version__, command(), extra={"version": __version__})
    if shown := {name: str(value) for name, value in options.items() if name not in SECRETS}:
        log.info("options from a file or the environment: %s", shown, extra={"options": shown})
    try:
        yield
    finally:
        _tell_the_end(sys.exc_info()[1], time.monotonic() - began)
        TREE.removeHandler(handler)
        handler.close()


def show_warnings() -> None:
    """Shows warnings on standard error. For the command only: who imports us decides by themselves."""
    handler = logging.StreamHandler()
    handler.setLevel(logging.WARNING)
    handler.addFilter(lambda record: not record.name.startswith(TOLD_AT_THE_END))
    TREE.addHandler(handler)


def _opened(path: Path) -> logging.Handler:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return logging.FileHandler(path, encoding="utf-8")
    except OSError as exc:
        raise UsageError(f"Cannot write the log {path}: {exc.strerror}.") from exc


def _tell_the_end(exc: BaseException | None, seconds: float) -> None:
    facts = {"seconds": round(seconds, 3)}
    if isinstance(exc, KeyboardInterrupt):
        log.warning("ended by Ctrl-C after %.1f s", seconds, extra=facts)
    elif exc is None or isinstance(exc, typer.Exit):
        code = exc.exit_code if isinstance(exc, typer.Exit) else 0
        log.info("ended with exit code %d after %.1f s", code, seconds, extra={**facts, "exit_code": code})
    else:
        words = str(exc) if isinstance(exc, PenstockError) else f"{type(exc).__name__}: {first_line(exc)}"
        log.error("ended after %.1f s: %s", seconds, words, extra=facts)


def _formatter(path: Path, secrets: Iterable[str]) -> logging.Formatter:
    return _JsonLines(secrets) if path.suffix == ".jsonl" else _TextLines(secrets)


class _TextLines(logging.Formatter):
    """`2026-11-16T19:02:32.123+00:00 INFO penstock.driver message`, whatever the message holds."""

    def __init__(self, secrets: Iterable[str]) -> None:
        super().__init__()
        self._secrets = sorted(secrets, key=len, reverse=True)

    def format(self, record: logging.LogRecord) -> str:
        return f"{_time(record)} {record.levelname} {record.name} {self.words(record)}"

    def words(self, record: logging.LogRecord) -> str:
        """The message and its exception on one line, without a secret."""
        said = " | ".join(filter(None, map(str.rstrip, super().format(record).splitlines())))
        return self.clean(said)

    def clean(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return redacted(text)


class _JsonLines(_TextLines):
    """An object a line; what the caller gave as `extra` are keys of their own."""

    _usual = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}

    def format(self, record: logging.LogRecord) -> str:
        own = {key: value for key, value in vars(record).items() if key not in self._usual}
        row = {"time": _time(record), "level": record.levelname.lower(), "logger": record.name}
        return self.clean(
            json.dumps({**row, "message": self.words(record), **own}, ensure_ascii=False, default=str)
        )


def _time(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")


def _secret_values(arguments: list[str], options: Mapping[str, Any]) -> set[str]:
    """The secrets of this command, wherever they came from: a server may repeat its key in an error."""
    names = {f"--{name.replace('_', '-')}" for name in SECRETS}
    typed = {value for name, value in itertools.pairwise(arguments) if name in names}
    typed |= {value for name, _, value in (text.partition("=") for text in arguments) if name in names}
    given = {str(options[name]) for name in SECRETS if name in options} | {os.environ.get("HF_TOKEN", "")}
    return {value for value in typed | given if len(value) >= MIN_SECRET}
