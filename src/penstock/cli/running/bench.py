"""Measures this machine for `penstock doctor --bench`: a short table, and JSON that can go into an issue.

The JSON names neither the machine nor its user, and no folder or address.
"""

from __future__ import annotations

import json
import platform
import re
import statistics
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from penstock.api.machine_bench import PartFigures, measured_parts
from penstock.cli.running.doctor import examine, exit_if_lacking, show_machine, words
from penstock.engines.vllm.presets import cards
from penstock.errors import UsageError
from penstock.options.option import values_of
from penstock.options.reading import READING
from penstock.processes.hardware import card_driver, hardware
from penstock.store import manifest
from penstock.trace import phrases
from penstock.trace.profile import StageProfile

FORMAT = 1
NETWORKS = ("torch", "transformers", "vllm")  # beside those of a run
LEFT_OUT = "(left out)"
_PLACE = re.compile(r"[^\s'\"(]*[/\\][^\s'\")]*")  # a path or an address


def show_doctor(given: Mapping[str, Any], *, bench: bool, as_json: bool, out: Path | None) -> None:
    """Shows the machine, with `bench` also what it gives; exits with 1 if a recipe lacks something."""
    if bench:
        show_bench(given, as_json=as_json, out=out)
    elif out is not None or "server" in given:
        raise UsageError("--out and --server are for --bench.", "Add --bench, or leave them out.")
    else:
        show_machine(as_json)


def show_bench(given: Mapping[str, Any], *, as_json: bool, out: Path | None) -> None:
    """Shows the machine and what it gives; exits with 1 if a recipe lacks something."""
    settings = values_of(READING, given)
    if "server" not in settings:  # the variable that holds a key may be set for other servers
        settings.pop("api_key", None)
    measuring = measured_parts(given["sample"], given["recipe"], settings)
    report = examine()
    if not as_json:
        print(f"{words(report)}\nMeasured  on Penstock's sample", flush=True)
    parts = []
    for part in measuring:
        parts.append(part)
        if not as_json:
            print("\n".join(lines(part)), flush=True)
    told = json.dumps(public_report(parts, given), ensure_ascii=False, indent=2)
    if as_json:
        print(told)
    if out is not None:
        out.write_text(told + "\n", "utf-8")
    exit_if_lacking(report)


def lines(part: PartFigures) -> list[str]:
    """Returns what a person reads of a part: its rate, the spread of it, what a page takes in each stage."""
    name = f"            {part.name:<18}"
    if part.problem:
        return [f"{name} not measured. {part.problem}"]
    rates = part.pages_per_s
    rounds = f"{phrases.plural(len(rates), 'round')} of {part.pages}"
    spread = f"{phrases.rate(min(rates))} to {phrases.rate(max(rates))} in {rounds}"
    failed = f", {phrases.plural(part.failed, 'page')} failed" if part.failed else ""
    stages = ", ".join(f"{stage.name} {_each_ms(stage):,.0f}" for stage in part.stages if stage.items)
    return [
        f"{name} {phrases.rate(statistics.median(rates))} pages/s ({spread}), first pages after"
        f" {phrases.duration(part.first_s)}{failed}",
        *([f"{'':<31}ms a page: {stages}"] if stages else []),
    ]


def public_report(parts: list[PartFigures], given: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the figures with the machine by its parts, and nothing that names it, its user or a place."""
    servers = given.get("server") or []
    private = [platform.node(), *(urlsplit(server).hostname or server for server in servers)]
    return {
        "penstock_bench": FORMAT,
        "machine": {
            **hardware(),
            "card_memory_gib": [round(card.memory_gb * 1e9 / 2**30, 1) for card in cards()],
            "driver": card_driver(),
        },
        "versions": {**dict.fromkeys(NETWORKS), **manifest.versions(NETWORKS)},
        "settings": {
            "recipe": given["recipe"],
            "pages": given["sample"],
            "servers": len(servers),
            "model": Path(given.get("model", "")).name,
            "preset": given.get("preset", "auto"),
        },
        "parts": [_facts(part, private) for part in parts],
    }


def _facts(part: PartFigures, private: list[str]) -> dict[str, Any]:
    if part.problem:
        return {"part": part.name, "problem": without_places(part.problem, private)}
    rates = part.pages_per_s
    return {
        "part": part.name,
        "pages_per_s": {"median": statistics.median(rates), "least": min(rates), "most": max(rates)},
        "pages_a_round": part.pages,
        "rounds": rates,
        "first_s": part.first_s,
        "failed": part.failed,
        "stages": [
            {"stage": stage.name, "workers": stage.workers, "overlap": stage.overlap, "items": stage.items,
             "ms_each": _each_ms(stage), "p50_ms": stage.p50_ms, "p95_ms": stage.p95_ms}
            for stage in part.stages if stage.items
        ],
    }  # fmt: skip


def without_places(sentence: str, private: list[str]) -> str:
    """Returns the sentence without paths, addresses and these names."""
    shorter = _PLACE.sub(LEFT_OUT, sentence)
    for name in filter(None, private):
        shorter = re.sub(rf"\b{re.escape(name)}\b", LEFT_OUT, shorter)
    return shorter


def _each_ms(stage: StageProfile) -> float:
    return 1e3 * stage.busy_s / stage.items
