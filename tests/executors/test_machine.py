"""One machine's half of a run over several, without a cluster."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import penstock
from penstock import sources
from penstock.errors import MissingModel, OpenError
from penstock.executors.inline import Inline
from penstock.executors.machine import Machine, MachineReport
from penstock.item import Item
from penstock.page import Page
from penstock.plan import Plan
from penstock.stage import Stage
from penstock.stages.load import Load
from penstock.testing.fake_recipe import fake
from penstock.testing.fake_stages import FakeLayout

SAMPLE = Path(penstock.__file__).parent / "sample" / "sample.pdf"


def pages() -> list[Item]:
    return list(sources.list_items([str(SAMPLE)], Page))


def heard_from(machine: Machine, count: int) -> MachineReport:
    heard, end = MachineReport(), time.monotonic() + 60
    while len(heard.items) < count and heard.error is None and time.monotonic() < end:
        told = machine.take(1.0)
        spans, counts = heard.spans + told.spans, heard.counts + told.counts
        items, hardware = heard.items + told.items, heard.hardware or told.hardware
        heard = replace(told, items=items, spans=spans, counts=counts, hardware=hardware)
    return heard


def test_a_machine_gives_the_same_pages_as_one_thread_and_goes_on_when_given_more() -> None:
    plan, items = fake(fails=(2,)), pages()
    machine = Machine(plan, penstock.__version__, "one")
    machine.put(items[:1])
    first = heard_from(machine, 1)
    machine.put(items[1:])
    rest = heard_from(machine, len(items) - 1)
    assert {item.id: item for item in first.items + rest.items} == {
        item.id: item for item in Inline().stream(plan, items)
    }
    spans = first.spans + rest.spans
    assert {span.stage for span in spans} == {"load", "fake_layout", "fake_recognise"}
    assert all(span.worker.startswith("one/") for span in spans)
    assert all(abs(span.start - time.time()) < 120 for span in spans), (
        "seconds since 1970, the same everywhere"
    )
    assert [count.failed for count in rest.counts] == [1]
    told = [report.hardware for report in (first, rest)]
    assert told[0] is not None and told[0].cores > 0 and told[1] is None


def test_another_version_on_a_machine_is_said_before_anything_runs() -> None:
    machine = Machine(fake(), "0.0.1", "two")
    error = machine.take(0.0).error
    assert isinstance(error, OpenError)
    assert "two has Penstock" in str(error)
    assert "same version" in str(error)


class _NoWeights(Stage):
    name = "find"

    def open(self) -> None:  # type: ignore[override]
        raise MissingModel("There are no weights.", "Fetch them.")


def test_what_a_machine_lacks_is_told_with_its_name() -> None:
    machine = Machine(Plan(Load(dpi=36), FakeLayout(), _NoWeights()), penstock.__version__, "three")
    machine.put(pages())
    error = heard_from(machine, 9).error
    assert isinstance(error, MissingModel)
    assert str(error) == "On three: There are no weights. Fetch them."
