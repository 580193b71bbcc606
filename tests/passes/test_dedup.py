"""Files with the same bytes are read once, and each document has its pages all the same."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import penstock
from penstock.passes.parse import ParseOptions, parse_work
from penstock.plan import Plan
from penstock.sources.duplicates import Duplicates
from penstock.stages.load import Load
from penstock.store.out import Out
from penstock.testing.fake_stages import FakeLayout, FakeRecognise
from tests.support.made_pdf import pdf, text

ONE, OTHER = pdf([text("one"), text("two")]), pdf([text("OTH"), text("two")])
NAMES = ("a.pdf", "b.pdf", "c.pdf", "deep/a.pdf")


def plan(*fails: int) -> Plan:
    return Plan(Load(dpi=36, workers=1), FakeLayout(), FakeRecognise(fails=fails), name="fake")


@pytest.fixture
def options(tmp_path: Path) -> ParseOptions:
    folder = tmp_path / "in"
    (folder / "deep").mkdir(parents=True)
    assert len(ONE) == len(OTHER)  # hashed, since a size says nothing
    for name, data in zip(NAMES, (ONE, OTHER, ONE, ONE), strict=True):
        (folder / name).write_bytes(data)
    return ParseOptions(inputs=(str(folder),), recipe=plan(), executor="inline", dedup=True)


def run(options: ParseOptions, out: Path) -> tuple[int, int, int]:
    """Returns how many pages were finished, how many of them are copies, and how many were there before."""
    work = parse_work(options, out)
    work.finish()
    tally = work.run.tally
    return tally.done + tally.failed, tally.copied, tally.skipped


def test_a_copy_has_the_pages_of_the_file_that_was_read(options: ParseOptions, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert run(options, out) == (8, 4, 0)
    pages = {(page.document, page.number): page for page in Out(out).read_pages()}
    assert list(pages) == [(name, number) for name in NAMES for number in (1, 2)]
    for number in (1, 2):
        first, other = pages["a.pdf", number], pages["b.pdf", number]
        assert first.markdown != other.markdown
        for name in ("c.pdf", "deep/a.pdf"):
            copy = pages[name, number]
            assert (copy.id, copy.uri) != (first.id, first.uri) and copy.uri.endswith(name)
            assert replace(copy, id=first.id, uri=first.uri, document="a.pdf") == first
    assert str(penstock.open(out)["c.pdf"].pages[1].locator) == "penstock:c.pdf/p2"


def test_a_run_goes_on_and_makes_only_what_is_missing(options: ParseOptions, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run(options, out)
    (tmp_path / "in" / "late.pdf").write_bytes(ONE)
    assert run(options, out) == (2, 2, 8)
    assert run(options, out) == (0, 0, 10)
    assert run(replace(options, dedup=False), out) == (0, 0, 10)


def test_a_page_that_failed_fails_in_each_copy_and_is_read_again_once(
    options: ParseOptions, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    options = replace(options, recipe=plan(1))
    assert run(options, out) == (8, 4, 0)
    assert run(replace(options, retry_failed=True), out) == (4, 2, 4)
    failed = [page for page in Out(out).read_pages() if page.failure is not None]
    assert [(page.document, page.attempt) for page in failed] == [(name, 2) for name in NAMES]


def test_pages_of_copies_come_last_from_python(options: ParseOptions, tmp_path: Path) -> None:
    given = {"recipe": plan(), "executor": "inline", "dedup": True}
    pages = penstock.parse(options.inputs[0], out=tmp_path / "out", **given)
    assert [page.document for page in pages] == [
        "a.pdf",
        "a.pdf",
        "b.pdf",
        "b.pdf",
        *["c.pdf"] * 2,
        *["deep/a.pdf"] * 2,
    ]


def test_only_files_of_one_size_are_opened(tmp_path: Path) -> None:
    short, missing = tmp_path / "short", tmp_path / "missing"
    short.write_bytes(b"1")
    duplicates = Duplicates()
    assert duplicates.first_of(short, "pdf", "short") == ""
    assert duplicates.first_of(missing, "pdf", "missing") == ""
    short.unlink()
    other = tmp_path / "other"
    other.write_bytes(b"12")
    assert duplicates.first_of(other, "pdf", "other") == ""
    assert duplicates.first_of(other, "png", "as another kind") == ""
