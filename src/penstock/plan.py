"""Stages in order, checked before anything is loaded.

A plan knows which field of its items each stage reads and writes, so it can say early what does not
fit, and when a heavy field has had its last reader. Its fingerprint holds what changes results and
nothing else: a run may be resumed with other workers, batches or servers, never with another plan.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from penstock.errors import PlanError
from penstock.item import Item
from penstock.page import Page
from penstock.stage import Stage

Settings = list[dict[str, Any]]


class Plan:
    """An ordered, checked list of stages.

    plan = Plan(Load(dpi=200), Layout(), Recognise(), name="documents")
    """

    def __init__(self, *stages: Stage, name: str = "custom", notes: tuple[str, ...] = ()) -> None:
        self.stages = stages
        self.name = name
        self.notes = notes  # what was decided for this machine, a sentence each, for people
        self.item = _item_class(stages)
        _check(stages, self.item)

    def __iter__(self) -> Iterator[Stage]:
        return iter(self.stages)

    def __len__(self) -> int:
        return len(self.stages)

    def drops(self, index: int) -> tuple[str, ...]:
        """Returns the heavy fields that no stage after `index` reads."""
        read_later = {field for stage in self.stages[index + 1 :] for field in stage.reads}
        return tuple(field for field in self.item.heavy if field not in read_later)

    def settings(self) -> Settings:
        """Returns what changes results, stage by stage, as plain JSON values."""
        return _plain([{"stage": stage.name, **stage.settings()} for stage in self.stages])

    def completed(self, settings: Settings) -> Settings:
        """Returns an older run's settings with the options that came after it, at their defaults.

        So an option that is added must do by default what was done before.
        """
        defaults = {stage.name: stage.defaults() for stage in self.stages}
        return _plain([{**defaults.get(row["stage"], {}), **row} for row in settings])

    def fingerprint(self) -> str:
        return fingerprint_of(self.settings())

    def describe(self) -> str:
        """Returns one line a stage, for people."""
        return "\n".join(_describe(stage) for stage in self.stages)


def _plain(rows: Settings) -> Settings:
    plain: Settings = json.loads(json.dumps(rows, default=str))
    return plain


def fingerprint_of(settings: Settings) -> str:
    """Returns a name for all that changes results; the same settings always give the same."""
    text = json.dumps(settings, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def differences(old: Settings, new: Settings) -> list[str]:
    """Returns what differs between two plans' settings, a line each: 'load.dpi: 200 -> 144'."""
    before, after = _flat(old), _flat(new)
    keys = sorted(before.keys() | after.keys())
    absent = "absent"
    return [
        f"{key}: {before.get(key, absent)} -> {after.get(key, absent)}"
        for key in keys
        if before.get(key, absent) != after.get(key, absent)
    ]


def _flat(settings: Settings) -> dict[str, Any]:
    flat: dict[str, Any] = {"stages": " > ".join(str(row["stage"]) for row in settings)}
    for row in settings:
        flat.update({f"{row['stage']}.{key}": value for key, value in row.items() if key != "stage"})
    return flat


def _item_class(stages: tuple[Stage, ...]) -> type[Item]:
    """Returns the class of items that all stages can work on; pages, where any would do."""
    if not stages:
        raise PlanError("A plan needs at least one stage.")
    narrowest = max((stage.item for stage in stages), key=lambda item: len(item.__mro__))
    for stage in stages:
        if not issubclass(narrowest, stage.item):
            raise PlanError(
                f"Stage {stage.name!r} works on a {stage.item.__name__}, others on a {narrowest.__name__}.",
                "Put stages together that work on the same items.",
            )
    return Page if issubclass(Page, narrowest) else narrowest


def _check(stages: tuple[Stage, ...], item: type[Item]) -> None:
    known = set(item.listed)
    seen: set[str] = set()
    for stage in stages:
        if stage.name in seen:
            raise PlanError(f"Two stages are called {stage.name!r}; names must differ.")
        seen.add(stage.name)
        _check_fields(stage, item)
        _check_reads(stage, known)
        _check_counts(stage)
        known.update(stage.writes)


def _check_fields(stage: Stage, item: type[Item]) -> None:
    names = {field.name for field in fields(item)}
    for word, wanted in (("reads", stage.reads), ("writes", stage.writes)):
        for field in wanted:
            if field not in names:
                raise PlanError(
                    f"Stage {stage.name!r} {word} {field!r}, which a {item.__name__} does not have."
                )


def _check_reads(stage: Stage, known: set[str]) -> None:
    for field in stage.reads:
        if field not in known:
            raise PlanError(
                f"Stage {stage.name!r} reads {field!r}, which no earlier stage writes.",
                "Add the stage that writes it before.",
            )


def _check_counts(stage: Stage) -> None:
    if min(stage.workers, stage.overlap, stage.batch.max_items) < 1:
        raise PlanError(f"Stage {stage.name!r} needs workers, overlap and batch of at least 1.")
    if stage.needs.process and stage.overlap > 1:
        raise PlanError(
            f"Stage {stage.name!r} has processes and overlap {stage.overlap};"
            " a process answers one call at a time.",
            "Raise workers instead.",
        )


def _describe(stage: Stage) -> str:
    where = "process" if stage.needs.process else "thread"
    count = f"{stage.workers} {where}{'es' if where == 'process' else 's'}" if stage.workers > 1 else where
    gpu = f", {stage.needs.gpus:g} GPU each" if stage.needs.gpus else ""
    overlap = f", {stage.overlap} calls in flight" if stage.overlap > 1 else ""
    batch = f", batches of {stage.batch.max_items}" if stage.batch.max_items > 1 else ""
    settings = ", ".join(f"{key}={value}" for key, value in stage.settings().items())
    return f"{stage.name:<11} {count}{gpu}{overlap}{batch}" + (f"  ({settings})" if settings else "")
