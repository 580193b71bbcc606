"""A run that was kept in a folder, opened as documents."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import penstock
from penstock.errors import UsageError
from penstock.plan import Plan
from tests.converted.test_document import PICTURE, Written
from tests.support import made_pdf

WRITTEN = Plan(Written(), name="written")


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("opened")
    for name, pages in (("year.pdf", 2), ("short.pdf", 1)):
        (folder / name).write_bytes(made_pdf.pdf([made_pdf.text(f"{n}") for n in range(pages)]))
    inputs = [folder / "year.pdf", folder / "short.pdf"]
    list(penstock.parse(inputs, out=folder / "out", recipe=WRITTEN, executor="inline"))
    return folder / "out"


def test_documents_are_there_by_name_and_in_source_order(out: Path) -> None:
    run = penstock.open(out)
    assert run.names == [doc.name for doc in run] == ["year.pdf", "short.pdf"]
    assert (len(run), "short.pdf" in run, "other.pdf" in run) == (2, True, False)
    assert [page.number for page in run["year.pdf"].pages] == [1, 2]
    assert repr(run["year.pdf"]) == "Document('year.pdf', 2 pages)"
    with pytest.raises(KeyError, match=r"has no document 'other\.pdf'"):
        run["other.pdf"]


def test_a_document_of_a_run_is_what_convert_gives(out: Path) -> None:
    doc = penstock.open(str(out))["year.pdf"]
    with penstock.convert(out.parent / "year.pdf", recipe=WRITTEN, executor="inline") as converted:
        assert doc.markdown == converted.markdown
        assert doc.joined_markdown == converted.joined_markdown
        assert doc.tables == converted.tables
        assert doc.sections == converted.sections
        assert [figure.image.size for figure in doc.figures] == [PICTURE.size]
        assert doc.to_dict()["producer"]["recipe"] == "written"
        assert doc.failures == converted.failures == []


def test_closing_or_saving_a_document_leaves_the_run_as_it_is(out: Path, tmp_path: Path) -> None:
    before = sorted(path.relative_to(out) for path in out.rglob("*"))
    with penstock.open(out)["year.pdf"] as doc:
        doc.save(tmp_path / "kept")
    assert sorted(path.name for path in (tmp_path / "kept").iterdir()) == ["crops", "year.md"]
    assert sorted(path.relative_to(out) for path in out.rglob("*")) == before
    assert len(doc.pages) == 2


def test_a_folder_that_is_no_run_is_refused(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "missing"):
        with pytest.raises(UsageError, match="holds no run"):
            penstock.open(folder)


def test_a_run_without_an_index_says_how_to_make_one(out: Path) -> None:
    with pytest.raises(UsageError, match="penstock index"):
        penstock.open(out).search("sales")


def test_a_run_is_searched(out: Path, tmp_path: Path) -> None:
    indexed = shutil.copytree(out, tmp_path / "indexed")
    penstock.index(indexed)
    hits = penstock.open(indexed).search("Busan", top=1, filters=penstock.Filters(documents=("year.pdf",)))
    assert [(hit.document, hit.page) for hit in hits] == [("year.pdf", 1)]
