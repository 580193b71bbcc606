"""What the Hub reads of a card: a licence, sizes, and configurations that lead to files that are there."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from penstock.cli.app import app
from penstock.errors import Failure, UsageError
from penstock.exports.export import export
from penstock.exports.page_rows import result_row
from penstock.page import Page, ReaderChoice
from penstock.passes.hub.card import card
from penstock.passes.hub.features import PAGE, REGION, features
from penstock.passes.hub.front_matter import check_licence, size_category
from penstock.region import Asset, CellPlace, FormField, Line, Link, Region, Signals
from penstock.store.ledger import ShardWriter
from penstock.store.out import Out
from penstock.store.schema import PAGES


@pytest.fixture
def out(tmp_path: Path) -> Out:
    writer = ShardWriter(tmp_path, PAGES)
    writer.add(Page(id="doc_1_page_0", uri="a.pdf", document="a.pdf", width=10, height=10, markdown="words"))
    writer.commit()
    export(tmp_path, ["jsonl"])
    return Out(tmp_path)


def head(text: str) -> dict[str, Any]:
    """The part of a card that the Hub reads, as its own client finds it: between two lines of dashes."""
    opening, front, _ = text.split("---\n", 2)
    assert opening == ""
    found: dict[str, Any] = yaml.safe_load(front)
    return found


def test_a_card_leads_to_the_files_that_were_written(out: Out) -> None:
    found = head(card(out))
    configs = {row["config_name"]: row["data_files"] for row in found["configs"]}
    assert configs["pages"] == [{"split": "train", "path": "ocr_results.jsonl"}]
    assert configs["texts"] == [{"split": "train", "path": "parsed_texts.jsonl"}]
    assert [row["config_name"] for row in found["configs"] if row.get("default")] == ["pages"]
    assert all(any(out.path.glob(files[0]["path"])) for files in configs.values())
    assert "chunks" not in configs
    assert found["size_categories"] == ["n<1K"]


def test_the_types_of_a_card_are_those_of_the_lines_that_are_written() -> None:
    failure = Failure(stage="load", kind="BadInput", message="torn")
    line = Line(text="a", box=(0, 0, 5, 5), confidence=1.0, other="b", words=(1.0,))
    region = Region(
        label="image",
        box=(0, 0, 9, 9),
        lines=(line,),
        cells=(CellPlace(0, 0, (0, 0, 5, 5), 0.5, "b"),),
        signals=Signals(network=0.5),
        links=(Link(text="a", address="https://example.org"),),
        crop=Asset(path="crops/a.jpg"),
        note="n",
        failure=failure,
    )
    page = Page(id="a", uri="a", document="a", width=9, height=9, regions=(region,))
    choice = ReaderChoice(reader="layer", reason="r", likely_wrong=0.0)
    page = replace(page, flattened="f", layer_fault="l", layout="n", choice=choice)
    page = replace(page, form=(FormField("a", "b", "c", (0, 0, 9, 9)),))
    row = {**result_row(page), **result_row(replace(page, failure=failure))}
    assert set(row) == set(PAGE)
    assert set(row["regions"][0]) == set(REGION)
    for name, shapes in (("lines", REGION["lines"]), ("cells", REGION["cells"])):
        assert set(row["regions"][0][name][0]) == set(shapes[0])
    assert set(row["form"][0]) == set(PAGE["form"][0])
    types = {field["name"]: field for field in features(PAGE)}
    assert types["page_idx"] == {"name": "page_idx", "dtype": "int64"}
    assert {"name": "bbox_2d", "sequence": "int64"} in types["regions"]["list"]
    assert {"name": "polygon", "sequence": {"sequence": "float64"}} in types["regions"]["list"]


@pytest.mark.parametrize(
    ("given", "facts", "words"),
    [
        ("", {"license": "other", "license_name": "as-the-source-documents"}, "their licences apply"),
        ("cc-by-4.0", {"license": "cc-by-4.0"}, "under `cc-by-4.0`"),
        ("KOGL-1", {"license": "other", "license_name": "kogl-1"}, "under `KOGL-1`"),
    ],
)
def test_a_card_has_the_licence_that_was_given_or_says_whose_applies(
    out: Out, given: str, facts: dict[str, str], words: str
) -> None:
    text = card(out, licence=given)
    found = {name: value for name, value in head(text).items() if name.startswith("license")}
    assert found == facts
    assert words in text.split("## Licence")[1]


def test_the_hubs_own_client_reads_the_card(out: Out) -> None:
    huggingface_hub = pytest.importorskip("huggingface_hub")
    data = huggingface_hub.DatasetCard(card(out, licence="odc-by")).data.to_dict()
    assert data["license"] == "odc-by"
    assert [row["config_name"] for row in data["configs"]] == ["pages", "texts"]


def test_a_licence_that_is_no_identifier_is_refused_before_anything_is_sent(out: Out) -> None:
    with pytest.raises(UsageError, match="not a licence's identifier"):
        check_licence("free for all")
    call = ["upload", str(out), "--repo", "me/pages", "--hf-token", "x", "--license", "a\nlicense: mit"]
    done = CliRunner().invoke(app, call)
    assert done.exit_code != 0 and "not a licence's identifier" in done.output + str(done.exception)


@pytest.mark.parametrize(
    ("pages", "word"), [(0, "n<1K"), (1_000, "1K<n<10K"), (40_781, "10K<n<100K"), (10**8, "n>10M")]
)
def test_sizes_are_the_hubs_words(pages: int, word: str) -> None:
    assert size_category(pages) == word
