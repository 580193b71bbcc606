"""Office files of known content: the files are real, the truth is right, and the scores say what is wrong."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree
from zipfile import ZipFile

import pytest

from penstock.errors import StoreError, UsageError
from penstock_eval.benchmarks.base import Sample
from penstock_eval.benchmarks.office import OfficeFiles
from penstock_eval.made_documents.folder import write_documents
from penstock_eval.made_documents.grow import FEATURES
from penstock_eval.metrics.formula_spelling import formulas_similarity
from penstock_eval.metrics.outline import outline_similarity
from penstock_eval.office_run import evaluate_office

BENCH = OfficeFiles()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_documents(tmp_path_factory.mktemp("made"), 4 * len(FEATURES), seed=5)


def test_the_same_seed_writes_the_same_bytes(made: Path, tmp_path: Path) -> None:
    again = write_documents(tmp_path, 2 * len(FEATURES), seed=5)
    for file in sorted((again / "documents").iterdir()):
        assert file.read_bytes() == (made / "documents" / file.name).read_bytes(), file.name


def test_every_part_of_every_package_is_well_formed(made: Path) -> None:
    for file in (made / "documents").iterdir():
        if file.suffix in (".html", ".rtf"):
            continue
        with ZipFile(file) as archive:
            for name in archive.namelist():
                if name.endswith((".xml", ".rels", ".xhtml", ".opf", ".hpf")):
                    ElementTree.fromstring(archive.read(name))


def test_the_truth_itself_scores_best(made: Path) -> None:
    for sample in BENCH.samples(made):
        values = BENCH.score(sample, full_truth(sample)).values
        best = {name: 1.0 if BENCH.metrics[name] else 0.0 for name in values}
        assert values == pytest.approx(best), sample.id


def test_what_is_missing_or_too_much_is_seen(made: Path) -> None:
    sample = next(each for each in BENCH.samples(made) if each.id == "docx-002")
    truth = full_truth(sample)
    whole = BENCH.score(sample, truth).values
    lines = truth.split("\n\n")
    less = BENCH.score(sample, "\n\n".join(lines[: len(lines) // 2])).values
    more = BENCH.score(sample, truth + "\n\nNo such sentence stands in the document at all.").values
    assert less["lost"] > 0.2 and less["headings"] < whole["headings"] and less["tables"] < whole["tables"]
    assert more["invented"] > 0 and more["lost"] == 0


def test_documents_are_read_and_scored(tmp_path: Path) -> None:
    outcome = evaluate_office(tmp_path, None, 2 * len(FEATURES), 5)
    assert outcome is not None and outcome.summary.count == 2 * len(FEATURES)
    means = {name: interval.mean for name, interval in outcome.summary.scores.items()}
    wanted = {name: float(higher) for name, higher in OfficeFiles.metrics.items()}
    assert {name: means[name] for name in wanted} == pytest.approx(wanted)
    rows = [json.loads(line) for line in (tmp_path / "samples.jsonl").read_text("utf-8").splitlines()]
    assert {row["id"].split("-")[0] for row in rows} == set(FEATURES)


@pytest.mark.parametrize("name", ["truth.jsonl", "documents/docx-000.docx", "truth/docx-000.md"])
def test_a_file_of_the_user_is_left_alone(tmp_path: Path, name: str) -> None:
    theirs = tmp_path / name
    theirs.parent.mkdir(exist_ok=True)
    theirs.write_text("mine")
    with pytest.raises(StoreError, match="was not written by Penstock"):
        write_documents(tmp_path, 1, 1, ("docx",))
    assert theirs.read_text() == "mine"


@pytest.mark.parametrize("name", ["documents", "truth"])
def test_documents_are_written_through_no_link(tmp_path: Path, name: str) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / name).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StoreError, match="is a link"):
        write_documents(tmp_path / "out", 1, 1, ("docx",))
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_an_unknown_format_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="No 'wps' files"):
        write_documents(tmp_path, 1, 1, ("wps",))


def test_an_outline_is_compared_by_what_holds_what() -> None:
    truth = [(1, "a"), (2, "b"), (2, "c")]
    assert outline_similarity(truth, [(2, "a"), (3, "b"), (3, "c")]) == 1.0
    assert outline_similarity(truth, [(1, "a"), (1, "b"), (1, "c")]) == pytest.approx(1 / 3)
    assert outline_similarity([], truth) is None and outline_similarity(truth, []) == 0.0


def test_two_spellings_of_a_formula_are_one() -> None:
    truth = [r"a \le \left( \frac{b}{c} \right)", r"\sum_{i = 1}^{n} x"]
    assert formulas_similarity(truth, [r"\sum^{n}_{i=1}{x}", r"a\leq(\dfrac bc)"]) == 1.0
    assert formulas_similarity(truth, truth[:1]) == 0.5


def full_truth(sample: Sample) -> str:
    return "\n\n".join([sample.truth["markdown"], *map(shown, sample.truth["asides"])])


def shown(aside: dict[str, list[str]]) -> str:
    """Returns an aside as a tool may write it: a hidden sheet is a heading and a table."""
    name, *cells = aside["pieces"]
    return (
        f"# {name}\n\n" + "".join(["<table>", *(f"<tr><td>{cell}</td></tr>" for cell in cells), "</table>"])
        if cells
        else f"A. Reviewer: {name}"
    )
