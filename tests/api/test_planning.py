"""`penstock plan` measures a sample of the inputs, or believes a profile, and keeps nothing."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

import penstock
from penstock.api.planning import drawn
from penstock.cli.app import app
from penstock.errors import UsageError
from penstock.page import Page
from penstock.testing import FAKE
from tests.support.made_pdf import pdf, text


@pytest.fixture
def inputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Twelve pages in three documents, and a file that is none."""
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    folder = tmp_path / "inputs"
    folder.mkdir()
    for number in range(3):
        (folder / f"d{number}.pdf").write_bytes(pdf([text(f"{number} {page}") for page in range(4)]))
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7 and no more")
    return folder


def test_a_sample_is_read_and_all_pages_are_counted(inputs: Path) -> None:
    found = penstock.plan_run(
        inputs, cards="cpux4", price=0.2, sample=5, recipe=FAKE, executor="inline", pages="1-3"
    )
    assert (found.items, found.measured, found.failed) == (9, 5, 0)
    assert found.cards == 4 and found.price is not None and found.price > 0
    assert list((inputs.parent / "tmp").iterdir()) == []


def test_a_profile_is_believed_instead_and_nothing_is_read(inputs: Path, tmp_path: Path) -> None:
    run = CliRunner()
    assert (
        run.invoke(app, ["parse", str(inputs), "-o", str(tmp_path / "run"), "--recipe", FAKE]).exit_code == 1
    )
    command = ["plan", str(inputs), "--profile", str(tmp_path / "run"), "--price", "1", "--json"]
    told = run.invoke(app, command)
    assert told.exit_code == 0, told.output
    found = json.loads(told.stdout)
    assert (found["items"], found["measured"], found["counted_all"]) == (12, 13, True)
    assert found["price_per_million"] == pytest.approx(found["hours_per_million"])
    shown = run.invoke(app, ["plan", "--profile", str(tmp_path / "run" / "profile.json"), "--cards", "2"])
    assert shown.exit_code == 0 and "A million pages" in shown.stdout and "These" not in shown.stdout


def test_without_inputs_and_profile_there_is_nothing_to_measure() -> None:
    with pytest.raises(UsageError, match="nothing to measure"):
        penstock.plan_run()


def pages(count: int) -> list[Page]:
    return [Page(id=f"d/{part}", uri="d.pdf", document="d.pdf", part=part) for part in range(count)]


def test_each_page_has_the_same_chance_to_be_drawn() -> None:
    counted = drawn(iter(pages(1000)), 100, lambda: True)
    assert (counted.pages, counted.complete, len(counted.sample)) == (1000, True, 100)
    parts = {page.part for page in counted.sample}
    assert len(parts) == 100
    assert 35 <= sum(part < 500 for part in parts) <= 65
    assert counted == drawn(iter(pages(1000)), 100, lambda: True)


def test_counting_ends_when_its_time_is_over() -> None:
    left = iter([True] * 9 + [False])
    counted = drawn(iter(pages(1000)), 5, lambda: next(left))
    assert (counted.pages, counted.complete, len(counted.sample)) == (10, False, 5)
