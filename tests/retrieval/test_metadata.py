"""Claims about conditions on documents: what people say in files of their own, and what was extracted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from penstock.errors import UsageError
from penstock.retrieval.hits import Filters
from penstock.retrieval.metadata import documents_where, resolved


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """A run of three documents: one with a file of its own, one in the folder's file, one with neither."""
    folder, out = tmp_path / "in", tmp_path / "out"
    (out / "extracted").mkdir(parents=True)
    folder.mkdir()
    (folder / "a.pdf.json").write_text(
        json.dumps({"client": "Acme", "date": "2024-03-01", "tags": ["water", "power"], "of": {"year": 2024}})
    )
    shared = [
        {"file_name": "b.pdf", "client": "Bolt", "date": "2023-12-31"},
        {"file_name": "a.pdf", "client": "?"},
    ]
    (folder / "metadata.jsonl").write_text("\n".join(map(json.dumps, shared)))
    rows = [{"document": f"{name}.pdf", "files": {str(folder / f"{name}.pdf"): name}} for name in "abc"]
    (out / "documents.jsonl").write_text("\n".join(map(json.dumps, rows)))
    found = [{"document": f"{name}.pdf", "values": {"total": n}} for n, name in enumerate("abc")]
    (out / "extracted" / "invoice.jsonl").write_text("\n".join(map(json.dumps, found)))
    return out


@pytest.mark.parametrize(
    ("conditions", "documents"),
    [
        (["client=acme"], "a"),
        (["client = Bolt"], "b"),
        (["client!=Acme"], "bc"),
        (["date>=2024-01-01"], "a"),
        (["date<2024"], "b"),
        (["tags=power"], "a"),
        (["of.year>2023"], "a"),
        (["invoice.total>=1"], "bc"),
        (["invoice.total>=1", "client=Bolt"], "b"),
        (["invoice.total=10"], ""),
        (["nothing=1"], ""),
    ],
)  # fmt: skip
def test_a_condition_chooses_documents(out: Path, conditions: list[str], documents: str) -> None:
    assert documents_where(out, conditions) == tuple(f"{name}.pdf" for name in documents)


def test_conditions_and_named_documents_hold_together(out: Path) -> None:
    both = resolved(out, Filters(documents=("b.pdf", "c.pdf"), where=("invoice.total>=0",)))
    assert both is not None and (both.documents, both.where) == (("b.pdf", "c.pdf"), ())
    assert resolved(out, Filters(documents=("c.pdf",), where=("client=Acme",))) is None


@pytest.mark.parametrize("text", ["", "client", "=x", "client Acme"])
def test_what_is_no_condition_is_a_sentence(out: Path, text: str) -> None:
    with pytest.raises(UsageError, match="is no condition"):
        documents_where(out, [text])


@pytest.mark.parametrize("text", ["{", "[" * 100_000, "\x00"])
def test_a_broken_file_next_to_a_document_is_named(out: Path, text: str) -> None:
    path = out.parent / "in" / "a.pdf.json"
    path.write_text(text)
    with pytest.raises(UsageError, match=r"a\.pdf\.json is not JSON"):
        documents_where(out, ["client=Acme"])


def test_a_file_that_holds_no_object_says_nothing(out: Path) -> None:
    (out.parent / "in" / "a.pdf.json").write_text("[1, 2]")
    assert documents_where(out, ["client=?"]) == ("a.pdf",)  # as the folder's file says
