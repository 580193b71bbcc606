"""What was extracted, against a truth: right, missed and invented values, by field and in all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import penstock
from penstock.cli.app import app
from penstock.documents.fields.page_rows import DocumentText
from penstock.errors import BadInput, UsageError
from penstock.store.out import Out
from penstock_eval.field_scores import FieldCounts, PrintedText, evaluate_fields, judged
from tests.passes.test_extract import SCHEMA, add, page_of, written


def printed(*rows: str) -> PrintedText:
    return PrintedText(DocumentText.of([page_of("a.pdf", *rows)]))


def test_values_are_right_missed_wrong_or_on_no_page() -> None:
    text = printed("Bill to: Ann Lee", "Total: 1,250.00 EUR", "on 3 March 2024", "2 x 4.00 8.00", "9.00")
    given = {"total": 1250, "buyer": "annlee", "day": "2025-01-01", "lines": [{"sum": 9.0}, {"sum": 7.0}]}
    truth = {"total": 1250.0, "buyer": "Ann Lee", "day": "2024-03-03", "tax": None, "currency": "EUR"}
    counts, unprinted = judged(given, {**truth, "lines": [{"sum": 8.0}, {"sum": 9.0}], "id": "X-7"}, text)
    assert counts == {
        "/total": FieldCounts(1, 1, 1), "/buyer": FieldCounts(1, 1, 1), "/day": FieldCounts(1, 1, 0, 1),
        "/tax": FieldCounts(), "/currency": FieldCounts(0, 1), "/lines/sum": FieldCounts(2, 2, 1, 1),
    }  # fmt: skip
    assert unprinted == 1  # the id stands on no page


def test_a_run_is_scored_by_a_verb_of_its_own(tmp_path: Path) -> None:
    out = add(
        tmp_path / "out",
        page_of("a.pdf", "Bill to: Ann", "Total: 12.50"),
        page_of("b.pdf", "Bill to: Bea", "Sum 7.00", "Total: 9.00"),
    )
    list(penstock.extract(out, SCHEMA))
    rows = [("a.pdf", {"total": 12.5, "buyer": "Ann"}), ("b.pdf", {"total": 7.0, "buyer": "Bea"})]
    truth = truth_file(tmp_path, *({"document": name, "values": values} for name, values in rows))
    call = ["--schema", written(tmp_path, SCHEMA), "--truth", truth, "-o", tmp_path / "scores", "--json"]
    told = CliRunner().invoke(app, ["eval", "extract", str(out), *map(str, call)])
    assert told.exit_code == 0, told.output
    summary = json.loads((tmp_path / "scores" / "summary.json").read_text("utf-8"))
    assert summary["extra"] == {
        "precision of all values": 0.75, "recall of all values": 0.75, "invented of all values": 0.0,
        "invented values": 0.0,
    }  # fmt: skip
    by_field = {name: scores["recall"]["mean"] for name, scores in summary["slices"].items()}
    assert by_field == {"field:/buyer": 1.0, "field:/total": 0.5}
    same = CliRunner().invoke(app, ["eval", "compare", str(tmp_path / "scores"), str(tmp_path / "scores")])
    assert same.exit_code == 0, same.output


def truth_file(folder: Path, *rows: Any) -> Path:
    (folder / "truth.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    return folder / "truth.jsonl"


def test_what_cannot_be_scored_is_a_sentence(tmp_path: Path) -> None:
    out = add(tmp_path / "out", page_of("a.pdf", "Total: 12.50"))
    truth = truth_file(tmp_path, {"document": "z.pdf", "values": {"total": 1}})
    with pytest.raises(UsageError, match="nothing that was extracted as 'bill'"):
        evaluate_fields(Out(out), "bill", truth, tmp_path / "scores")
    list(penstock.extract(out, SCHEMA))
    with pytest.raises(UsageError, match="names no document"):
        evaluate_fields(Out(out), "bill", truth, tmp_path / "scores")
    with pytest.raises(BadInput, match="line 2 has no values"):
        evaluate_fields(Out(out), "bill", truth_file(tmp_path, {"document": "a", "values": {}}, []), tmp_path)
