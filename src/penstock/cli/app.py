"""The `penstock` command: its verbs, and how an error ends it.

A verb's file is imported when the verb is called, so that `penstock --help` answers at once.
Exit codes: 0 all well; 1 some items failed, and are listed; 2 the call or the machine was wrong.
"""

from __future__ import annotations

import errno
import importlib
import os
import signal
import sys
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, Any, NoReturn, TextIO

import typer
from typer.core import TyperCommand, TyperGroup

from penstock import __version__
from penstock.cli.running.log_file import show_warnings
from penstock.errors import PenstockError
from penstock.extras import from_extra
from penstock.options.option import GROUPS

INTERRUPTED, TERMINATED = 130, 143  # what shells say of Ctrl-C and of SIGTERM


@dataclass(frozen=True, slots=True)
class Verb:
    """Where a verb lives ("module:function", "module:app", an entry point's name), its help, an example."""

    home: str
    help: str
    example: str = ""
    extra: str = ""  # of the distribution that provides the verb by an entry point

    def load(self) -> Any:
        """Returns the function or the app. Raises MissingModel for a verb whose extra is not installed."""
        if self.extra:
            return from_extra(self.extra, f"`penstock {self.home}`", PROVIDED, self.home)
        module, name = self.home.split(":")
        return getattr(importlib.import_module(f"penstock.cli.{module}"), name)


PROVIDED = "penstock.verbs"  # the group of entry points of verbs from other distributions
VERBS = {
    "parse": Verb("parse:parse", "Turn documents into Markdown, JSON and crops.", "scans/ report.pdf -o out"),
    "plan": Verb(
        "plan:plan",
        "Say what a run would take: hours, cost, what to buy.",
        "scans/ --cards h200x8 --price 3.49 --profile out",
    ),
    "enrich": Verb(
        "enrich:enrich", "Add summaries and keywords to figures and tables.", "out --text-engine rule"
    ),
    "extract": Verb("extract:extract", "Fill a JSON Schema from each document.", "out --schema invoice.json"),
    "export": Verb("export:export", "Write the files people read.", "out --to md,jsonl,searchable-pdf"),
    "embed": Verb(
        "embed:embed", "Turn pages, texts and queries into vectors.", "out --queries questions.jsonl"
    ),
    "index": Verb("index:index", "Make a run searchable.", "out"),
    "search": Verb("search:search", "Find pages and regions.", "out '설치 방법' --top 5"),
    "review": Verb("review:review", "Show what a person should look at, and correct it.", "out --top 20"),
    "volumes": Verb(
        "volumes:volumes", "Measure the things in photos.", "room.jpg -o out --box 420,610,380,700:chair"
    ),
    "run": Verb("run:run", "Run a whole pipeline, from download to upload.", "kopub --recipe builtin"),
    "upload": Verb("upload:upload", "Bring a run to the Hugging Face Hub.", "out --repo me/pages"),
    "serve": Verb("serve:serve", "An HTTP API and a web page over a run.", "out --recipe documents"),
    "mcp": Verb("mcp:mcp", "Tools for agents: read, search, measure.", "--allow-folder ~/Documents"),
    "eval": Verb("eval", "Score recipes and predictions on benchmarks.", extra="eval"),
    "check": Verb("check:check", "Say whether what a run wrote is whole.", "out --repair"),
    "profile": Verb("profile:profile", "Say where the time of a run went.", "out"),
    "engine": Verb("engine:app", "Start, watch and stop model servers."),
    "models": Verb("models:app", "List, fetch and verify the built-in weights."),
    "doctor": Verb("doctor:doctor", "Say what this machine has and what is missing.", "--json"),
}


UNWRITABLE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})  # files of ours have StoreError


class Terminated(KeyboardInterrupt):
    """SIGTERM, which ends a run as Ctrl-C does: threads and processes end, what is finished is committed."""


def _on_sigterm(*_: object) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # a second one must not cut the commit short
    raise Terminated


def _listen_to_signals() -> None:
    """Lets SIGTERM end a run in order, and a terminal that closes (SIGHUP) do the same; not under nohup."""
    signal.signal(signal.SIGTERM, _on_sigterm)
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda *_: signal.raise_signal(signal.SIGTERM))


class _Grouped(TyperCommand):
    """A verb whose help says together what belongs together."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        told = [(param, param.get_help_record(ctx)) for param in self.get_params(ctx)]
        for group in ("Arguments", "Options", *GROUPS):
            lines = [line for param, line in told if line and _group(param) == group]
            if lines:
                with formatter.section(group):
                    formatter.write_dl(lines)


def _group(param: Any) -> str:
    if param.param_type_name == "argument":
        return "Arguments"
    return "Running" if param.name == "help" else getattr(param, "rich_help_panel", None) or "Options"


class _Verbs(TyperGroup):
    """A group that imports a verb's file when the verb is used."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(VERBS)

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        """What a shell offers: verbs by their names alone, so that no verb's file is imported for it."""
        item = getattr(typer.core, "CompletionItem", None)  # not in every version of typer
        if incomplete.startswith("-") or item is None:
            return super().shell_complete(ctx, incomplete)
        return [item(name, help=verb.help) for name, verb in VERBS.items() if name.startswith(incomplete)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        verb = VERBS.get(cmd_name)
        if verb is None:
            return None
        thing = verb.load()
        if isinstance(thing, typer.Typer):
            thing.rich_markup_mode = None  # help that looks like that of the other verbs
            command = typer.main.get_command(thing)
            command.name = cmd_name
            return command
        single = typer.Typer(**_LOOKS)
        single.command(cmd_name, cls=_Grouped, epilog=f"Example: penstock {cmd_name} {verb.example}")(thing)
        return typer.main.get_command(single)

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except Terminated:
            with suppress(OSError):  # the terminal may be gone
                print("penstock: stopped by a signal. Run it again to go on from here.", file=sys.stderr)
            raise typer.Exit(TERMINATED) from None
        except KeyboardInterrupt:  # caught here, before typer ends the program without a word
            print("penstock: stopped. Run the same command again to go on from here.", file=sys.stderr)
            raise typer.Exit(INTERRUPTED) from None

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, verb.help) for name, verb in VERBS.items()])


_LOOKS: dict[str, Any] = {
    "add_completion": False,
    "pretty_exceptions_enable": False,
    "rich_markup_mode": None,
    "context_settings": {"help_option_names": ["-h", "--help"]},
}

app = typer.Typer(
    name="penstock",
    cls=_Verbs,
    help="Pages and photos in, structured, searchable, measured data out.",
    epilog="Example: penstock parse report.pdf -o out",
    no_args_is_help=True,
    **{**_LOOKS, "add_completion": True},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"penstock {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and exit."),
    ] = False,
) -> None:
    """Pages and photos in, structured, searchable, measured data out."""


def _open_closed_streams() -> None:
    """Gives a closed standard stream (`2>&-`) the null device: else the next file takes its number."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            null = os.open(os.devnull, os.O_RDWR)
            if null != number:
                os.dup2(null, number)
                os.close(null)
            setattr(sys, name, open(number, "r" if number == 0 else "w", closefd=False))  # noqa: SIM115


def main() -> None:
    """Runs the command line. Every error of ours is one sentence on standard error."""
    _open_closed_streams()
    _listen_to_signals()
    show_warnings()
    try:
        _run_and_flush()
    except PenstockError as exc:
        _end(f"penstock: {exc}", 2)
    except OSError as exc:
        if exc.errno == errno.EPIPE:  # the reader of our output went away, as `head` does
            _end("", 1)
        if exc.filename is None and exc.errno not in UNWRITABLE:
            raise
        where = "standard output" if exc.filename is None else str(exc.filename)
        _end(f"penstock: Cannot use {where}: {exc.strerror}.", 2)


def _run_and_flush() -> None:
    """Runs the command; what it printed is out when this returns, so that a full disk is an error here."""
    try:
        app()
    except SystemExit:
        sys.stdout.flush()
        raise


def _is_unwritable(stream: TextIO) -> bool:
    try:
        stream.flush()
    except OSError:
        return True
    return False


def _end(words: str, code: int) -> NoReturn:
    """Ends the program with a sentence. What streams still hold and cannot write is dropped."""
    with suppress(OSError):
        print(words, end="\n" if words else "", file=sys.stderr, flush=True)
    null = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        if _is_unwritable(stream):  # Python would try again at its very end, and complain
            os.dup2(null, stream.fileno())
    sys.exit(code)
