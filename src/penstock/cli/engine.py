"""`penstock engine`: model servers that keep running, started, listed and stopped."""

from __future__ import annotations

import json
import shlex
from dataclasses import asdict
from itertools import zip_longest
from typing import Annotated, Any

import typer

from penstock.cli.options import AsJson, with_options
from penstock.engines.chat.deepseek.pages import MODELS as PAGE_MODELS
from penstock.engines.chat.recognisers import RECOGNISERS
from penstock.engines.vllm import daemon, detached
from penstock.engines.vllm.compiled import compiled_bytes, compiled_folder
from penstock.engines.vllm.detached import DetachedServer
from penstock.engines.vllm.embedding_presets import NAMES as EMBEDDERS
from penstock.engines.vllm.planned_servers import WantedServers, budget_of, planned_servers, variables_of
from penstock.engines.vllm.presets import PRESETS
from penstock.engines.vllm.probe import healthy, tokens_and_running
from penstock.engines.vllm.server import in_turns
from penstock.errors import UsageError
from penstock.options.option import only
from penstock.options.reading import READING
from penstock.sizes import file_size
from penstock.vllm_plugin import VARIABLE

app = typer.Typer(
    help="The model servers: start, status, stop.",
    epilog="Example: penstock engine start glm-ocr --preset l4 --dry-run",
    no_args_is_help=True,
)

DEFAULT_MODEL = "glm-ocr"
_READERS = (name for name, known in {**RECOGNISERS, **PAGE_MODELS}.items() if known.model)
_SERVED = ", ".join((*_READERS, *EMBEDDERS))
_PRESETS = ", ".join(("auto", *PRESETS))


@app.command(epilog="Example: penstock engine start glm-ocr --gpu 0,1 -- --max-model-len 8192")
@with_options(*only(READING, "ocr_dtype", "vision", "max_model_len"))
def start(
    given: dict[str, Any],
    model: Annotated[str, typer.Argument(help=f"{_SERVED}, a folder or a hub name.")] = DEFAULT_MODEL,
    vllm_args: Annotated[
        list[str] | None, typer.Argument(help="Flags for `vllm serve`, after --. They replace ours.")
    ] = None,
    preset_name: Annotated[str, typer.Option("--preset", help=f"One of {_PRESETS}.")] = "auto",
    gpu: Annotated[str, typer.Option(help="Numbers of the GPUs to use, such as 0,1. Default: all.")] = "",
    port: Annotated[
        int,
        typer.Option(
            help="Port of the first server; the others use the following ports. 0 picks free ports.", min=0
        ),
    ] = 8000,
    name: Annotated[str, typer.Option(help="Name for status and stop. Default: the model's.")] = "",
    wait: Annotated[bool, typer.Option(help="Return only when the servers answer.")] = True,
    warm: Annotated[
        bool,
        typer.Option(
            "--warm", help="Stop the servers when they have compiled and answered, for a quicker next start."
        ),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the full commands. Start nothing.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Start one or more servers a GPU with the flags of a preset, and leave them running."""
    if warm and not wait:
        raise UsageError("--warm waits for the servers to answer.", "Leave --no-wait out.")
    extra = vllm_args or []
    if model.startswith("--"):  # no model was named, only flags for vLLM
        model, extra = DEFAULT_MODEL, [model, *extra]
    wanted = WantedServers(
        model=model,
        preset=preset_name,
        dtype=given.get("ocr_dtype", "auto"),
        vision=given.get("vision", "auto"),
        max_model_len=given.get("max_model_len", 0),
        extra=tuple(extra),
        gpu=gpu,
        port=port,
        name=name,
    )
    planned = planned_servers(wanted, dry_run)
    if dry_run:
        _show_plan(planned, as_json)
    elif warm:
        _warm_up(planned, as_json)
    else:
        _start_all(planned, wait, as_json)


@app.command(epilog="Example: penstock engine status --json")
def status(as_json: AsJson = False) -> None:
    """Show every server that was started: its address, whether it answers, what it is doing."""
    rows = [_row(server) for server in detached.servers()]
    if as_json:
        print(json.dumps(rows, indent=2))
    elif not rows:
        print("No servers. Start one with: penstock engine start")
    for row in rows if not as_json else ():
        words = (
            row["name"],
            row["state"],
            row["url"],
            f"GPU {row['gpu']}" if row["gpu"] is not None else "CPU",
        )
        print("\t".join((*words, row["doing"], row["reason"])).rstrip())
    if any(row["state"] not in ("ready", "starting") for row in rows):
        raise typer.Exit(1)


@app.command(epilog="Example: penstock engine stop glm-ocr")
def stop(
    names: Annotated[
        list[str] | None, typer.Argument(help="Servers by name; all when none is named.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Stop servers and free their GPUs."""
    known = detached.servers()
    chosen = [server for server in known if not names or _is_named(server, names)]
    if names and not chosen:
        have = ", ".join(server.name for server in known) or "none"
        raise UsageError(f"No server is called {' or '.join(names)}.", f"There are: {have}.")
    for server in chosen:
        daemon.stop(server)
        if not as_json:
            print(f"{server.name}: stopped", flush=True)
    if as_json:
        print(json.dumps([server.name for server in chosen]))


def _is_named(server: DetachedServer, names: list[str]) -> bool:
    """`glm-ocr` also means glm-ocr-1, glm-ocr-2, which were started together."""
    return any(server.name == name or server.name.rpartition("-")[0] == name for name in names)


def _show_plan(servers: list[DetachedServer], as_json: bool) -> None:
    if as_json:
        print(json.dumps([_plan_row(server, servers) for server in servers], indent=2))
        return
    for server in servers:
        variables = [f"{key}={shlex.quote(value)}" for key, value in variables_of(server).items()]
        print(" ".join([*variables, shlex.join(server.command)]))
    print()
    first = daemon.planned_preset(servers[0])
    for flag in first.all_flags():
        print(f"# {' '.join(flag.words)}: {flag.why}")
    for flag in first.env:
        print(f"# {flag.name}={flag.value}: {flag.why}")
    print(f"# {VARIABLE}={servers[0].vision}: the vision tower; ours reads 1.45 times the pages on an H200")
    if budget := budget_of(servers[0], servers):
        print(f"#\n# memory of {servers[0].model} with preset {servers[0].preset}, computed:")
        for line in budget.lines():
            print(f"#   {line}")


def _plan_row(server: DetachedServer, all_servers: list[DetachedServer]) -> dict[str, Any]:
    own = daemon.planned_preset(server)
    budget = budget_of(server, all_servers)
    return {
        "name": server.name,
        "preset": server.preset,
        "url": server.url,
        "gpu": server.gpu,
        "command": list(server.command),
        "env": variables_of(server),
        "in_flight": own.in_flight,
        "why": {flag.name: flag.why for flag in (*own.all_flags(), *own.env)},
        "memory": budget.facts() if budget else None,
    }


def _warm_up(servers: list[DetachedServer], as_json: bool) -> None:
    """Starts servers and stops them when they have answered, or when one of them failed."""
    names = {server.name for server in servers}
    if running := [server.name for server in detached.servers() if server.name in names and server.alive]:
        raise UsageError(f"{running[0]} is running already.", "Stop it first, or add --name.")
    try:
        _start_all(servers, wait=True, as_json=as_json)
    finally:
        for server in detached.servers():
            if server.name in names:
                daemon.stop(server)
    if not as_json:
        size = file_size(compiled_bytes())
        print(f"All are stopped. What they compiled ({size}) is in {compiled_folder()}", flush=True)


def _start_all(servers: list[DetachedServer], wait: bool, as_json: bool) -> None:
    groups = in_turns(servers, lambda server: server.gpu, lambda server: server.command)
    awaited = servers if wait else [server for group in groups for server in group[:-1]]
    ready = []
    for turn in zip_longest(*groups):
        now = [server for server in turn if server is not None]
        for server in now:
            daemon.start(server)
            if not as_json:
                print(f"{server.name}: starting at {server.url} (log: {server.log})", flush=True)
        for server in now:
            if server in awaited:
                ready.append(daemon.wait(server.name, lambda _: None))
                if not as_json:
                    print(f"{server.name}: ready", flush=True)
    if as_json:
        print(json.dumps([asdict(server) for server in ready or servers], indent=2))


def _row(server: DetachedServer) -> dict[str, Any]:
    state = server.state
    if not server.alive and state != "failed":
        state = "dead"
    elif state == "ready" and not healthy(server.url, 5.0):
        state = "not answering"
    load = tokens_and_running(server.url, 5.0) if state == "ready" else None
    doing = f"{load[1]:.0f} running, {load[0]:.0f} tokens so far" if load else ""
    return {**asdict(server), "url": server.url, "state": state, "doing": doing}
