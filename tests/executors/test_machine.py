"""One machine's half of a run over several, without a cluster."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from pathlib import Path

import penstock
from penstock import sources
from penstock.errors import MissingModel, OpenError, StoreError
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


@dataclass
class _Shelf:
    """A writer that publishes every third item, or when it is asked to."""

    published: list[str] = field(default_factory=list)
    buffered: list[str] = field(default_factory=list)
    is_due = False

    def open(self) -> _Shelf:
        return self

    def add(self, item: Item) -> Item:
        self.buffered.append(item.id)
        if len(self.buffered) == 3:
            self.commit()
        return item

    def commit(self) -> None:
        self.published += self.buffered
        self.buffered = []

    @property
    def num_buffered(self) -> int:
        return len(self.buffered)


def test_a_machine_that_writes_gives_back_what_is_published_and_the_rest_when_it_has_no_more_to_do() -> None:
    shelf, items = _Shelf(), pages()[:1] * 5
    machine = Machine(fake(), penstock.__version__, "four", shelf)
    machine.put([replace(item, id=f"{number}") for number, item in enumerate(items)])
    reports = []
    while sum(len(report.items) for report in reports) < 5 and len(reports) < 60:
        reports.append(machine.take(1.0))
        assert {item.id for item in reports[-1].items} <= set(shelf.published)
    assert sorted(shelf.published) == list("01234")
    assert reports[-1].finished == 0
    assert max(len(report.items) for report in reports) == 3


def test_what_a_writer_cannot_publish_ends_the_run_with_the_machines_name() -> None:
    class Full(_Shelf):
        def commit(self) -> None:
            raise StoreError("The store is full.", "Delete something.")

    machine = Machine(fake(), penstock.__version__, "five", Full())
    machine.put(pages()[:1])
    error = heard_from(machine, 1).error
    assert str(error) == "On five: The store is full. Delete something."
