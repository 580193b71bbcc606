"""The ledger: one rename publishes rows; the latest attempt counts; half a character harms nobody."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import penstock
from penstock.errors import Failure, StoreError
from penstock.exports.export import export
from penstock.exports.pages import output_names
from penstock.page import Page
from penstock.region import Asset, FormField, Line, Region
from penstock.sources.names.safe import safe_name, safe_path
from penstock.store.atomic_files import replacing
from penstock.store.ledger import Ledger, ShardWriter
from penstock.store.out import Out
from penstock.store.ownership import TMP
from penstock.store.schema import PAGES
from penstock.store.source_order import Files, note_file, write_order


def page(number: int, document: str = "a.pdf", **more: object) -> Page:
    region = Region(
        label="text",
        box=(1.0, 2.0, 50.0, 60.0),
        content=f"page {number}",
        lines=(Line(text="line", box=(1.0, 2.0, 3.0, 4.0), confidence=0.5, other="lime", words=(0.5,)),),
    )
    item = Page(
        id=f"{document}/{number:05d}", uri=document, document=document, part=number, width=100, height=200
    )
    form = (FormField("b", "Born", "1984", (1.0, 2.0, 3.0, 4.0)),)
    changes = {"regions": (region,), "form": form, "markdown": f"page {number}", **more}
    return replace(item, **changes)  # type: ignore[arg-type]


def test_a_row_comes_back_as_it_was(tmp_path: Path) -> None:
    writer = ShardWriter(tmp_path, PAGES)
    writer.add(page(0))
    writer.commit()
    [back] = Out(tmp_path).read_pages()
    assert back == page(0)


def test_the_latest_attempt_counts_and_success_beats_failure(tmp_path: Path) -> None:
    failure = Failure(stage="load", kind="BadInput", message="broken")
    for item in (page(0, failure=failure), page(0, attempt=2), page(1), page(1, attempt=2, failure=failure)):
        writer = ShardWriter(tmp_path, PAGES)
        writer.add(item)
        writer.commit()
    first, second = Out(tmp_path).read_pages()
    assert (first.attempt, first.failure) == (2, None)
    assert (second.attempt, second.failure) == (2, failure)


def test_a_repeated_commit_overwrites_itself(tmp_path: Path) -> None:
    for _ in range(2):
        writer = ShardWriter(tmp_path, PAGES)
        writer.add(page(0))
        writer.commit()
    assert len(list((tmp_path / "items").iterdir())) == 1


def test_pages_come_in_source_order_however_they_finished(tmp_path: Path) -> None:
    writer = ShardWriter(tmp_path, PAGES)
    for item in (page(1, "b.pdf"), page(2, "a.pdf"), page(0, "b.pdf"), page(1, "a.pdf")):
        writer.add(item)
    writer.commit()
    write_order(tmp_path, {"b.pdf": {}, "a.pdf": {}})
    assert [(item.document, item.part) for item in Out(tmp_path).read_pages()] == [
        ("b.pdf", 0),
        ("b.pdf", 1),
        ("a.pdf", 1),
        ("a.pdf", 2),
    ]


def test_a_document_has_the_files_of_its_pages_and_an_upload_has_none() -> None:
    documents: dict[str, Files] = {}
    first, second = (
        Page(id="v1/00000", uri="/in/a.png", document="a"),
        Page(id="v2/00001", part=1, uri="/in/b.png", document="a"),
    )
    for item in (first, second, Page(id="0f/00000", uri="/out/uploads/0f/x.pdf", document="0f/x.pdf")):
        note_file(documents, item)
    assert documents == {"a": {"/in/a.png": "v1", "/in/b.png": "v2"}, "0f/x.pdf": {}}


def test_a_crop_is_a_file_before_its_row_and_once_for_all_pages(tmp_path: Path) -> None:
    writer = ShardWriter(tmp_path, PAGES)
    picture = Region(label="image", box=(0, 0, 9, 9), crop=Asset(path="crops/abc.jpg", data=b"\xff\xd8jpeg"))
    for number in range(3):
        writer.add(replace(page(number), regions=(picture,)))
    assert (tmp_path / "crops" / "abc.jpg").read_bytes() == b"\xff\xd8jpeg"
    writer.commit()
    assert all(region.crop.data is None for item in Out(tmp_path).read_pages() for region in item.regions)


def test_half_a_character_in_a_text_layer_does_not_end_a_run(tmp_path: Path) -> None:
    writer = ShardWriter(tmp_path, PAGES)
    writer.add(page(0, markdown="broken \ud835 font"))
    writer.commit()
    [back] = Out(tmp_path).read_pages()
    assert back.markdown == "broken ? font"
    export(tmp_path, ["md", "jsonl"])


def test_what_fails_leaves_no_temporary_file(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="mid-way"), replacing(tmp_path / "x.bin", tmp_path) as file:
        file.write(b"half")
        raise ValueError("mid-way")
    assert not (tmp_path / "x.bin").exists()
    assert not list((tmp_path / TMP).iterdir())


def test_a_full_disk_says_so(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="disk is full"), replacing(tmp_path / "x.bin", tmp_path):
        raise OSError(28, "No space left on device")


def test_a_failed_page_keeps_its_row(tmp_path: Path) -> None:
    writer = ShardWriter(tmp_path, PAGES)
    writer.add(page(0))
    writer.add(
        page(
            1, failure=Failure(stage="load", kind="BadInput", message="page 2 is --> broken", advice="Look.")
        )
    )
    writer.commit()
    export(tmp_path, ["md", "jsonl"])
    rows = [json.loads(line) for line in (tmp_path / "ocr_results.jsonl").read_text().splitlines()]
    assert [row["valid"] for row in rows] == [True, False]
    assert rows[1]["failure"]["advice"] == "Look."
    assert rows[0]["regions"][0]["bbox_2d"] == [10, 10, 500, 300]
    assert list(rows[0])[:5] == ["page_id", "page_idx", "regions", "markdown", "image_crops"]
    text = (tmp_path / "markdown" / "a.md").read_text()
    assert "failed in load" in text
    assert text.count("-->") == text.count("<!--")


def test_documents_get_names_that_do_not_clash() -> None:
    names = output_names(["a.pdf", "sub/b.pdf", "c.pdf", "c.png", "X.pdf", "x.pdf"], ".md")
    assert [str(name) for name in names.values()][:4] == ["a.md", "sub/b.md", "c.pdf.md", "c.png.md"]
    assert len({str(name).casefold() for name in names.values()}) == 6


@pytest.mark.parametrize("name", ["con", "a:b", "..", "x" * 400, "보고서" * 80, " .", "a\nb", "nul.txt"])
def test_names_are_safe_everywhere(name: str) -> None:
    safe = safe_name(name)
    assert 0 < len(safe.encode()) <= 130
    assert not set(safe) & set('<>:"/\\|?*\n')
    assert safe.split(".")[0].lower() not in {"con", "nul"}
    assert str(safe_path(f"/../{name}/ok.pdf"))[0] not in "/."


def test_reading_back_is_part_of_the_public_api(tmp_path: Path) -> None:
    writer = ShardWriter(tmp_path, PAGES)
    writer.add(page(0))
    writer.commit()
    assert [item.markdown for item in penstock.read(tmp_path)] == ["page 0"]
    assert len(Ledger(tmp_path, PAGES).entries()) == 1
