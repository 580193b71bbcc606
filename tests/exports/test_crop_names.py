"""Crops by page and order: names that every system takes, links that follow, and a store untouched."""

from __future__ import annotations

import json
import os
from pathlib import Path
from urllib.parse import unquote

import cv2
import numpy as np
import pytest

from penstock.documents.docjson.page_blocks import page_blocks
from penstock.documents.formats.markdown import page_markdown
from penstock.errors import UsageError
from penstock.exports.crop_names import FOLDER, CropsByPage, page_stems
from penstock.exports.export import export
from penstock.page import Page
from penstock.passes.enrich import list_blocks
from penstock.passes.parse import ParseOptions, crop_names_of, parse_work
from penstock.region import Region, asset
from penstock.store.ledger import ShardWriter
from penstock.store.out import Out
from penstock.store.ownership import claim
from penstock.store.schema import PAGES
from penstock.testing import FAKE


def jpeg(shade: int) -> bytes:
    return bytes(cv2.imencode(".jpg", np.full((8, 8, 3), shade, np.uint8))[1])


def page(document: str, part: int, *shades: int) -> Page:
    """A page with a line of text and then a picture of each shade."""
    pictures = [
        Region(
            label="image", box=(0, 10 * n, 50, 10 * n + 9), index=n, crop=asset("crops", jpeg(shade), "jpg")
        )
        for n, shade in enumerate(shades, 1)
    ]
    regions = (Region(label="text", box=(0, 0, 50, 9), index=0, content="Words."), *pictures)
    return Page(
        id=f"{document.removesuffix('.pdf')}_page_{part}", uri=document, document=document, part=part,
        width=50, height=90, regions=regions, markdown=page_markdown(regions),
    )  # fmt: skip


def written(folder: Path, *pages: Page) -> Path:
    writer = ShardWriter(folder, PAGES)
    for one in pages:
        writer.add(one)
    writer.commit()
    return folder


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """Two documents called doc_123 in two folders; one picture is on both pages of the first."""
    pages = (page("a/doc_123.pdf", 0, 10, 20), page("a/doc_123.pdf", 1, 20), page("b/doc_123.pdf", 0, 30))
    return written(tmp_path / "out", *pages)


def rows(out: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (out / "ocr_results.jsonl").read_text("utf-8").splitlines()]


def crops_of(out: Path) -> list[str]:
    return [crop["path"] for row in rows(out) for crop in row["image_crops"]]  # type: ignore[attr-defined]


def names(out: Path) -> list[str]:
    return sorted(path.name for path in (out / FOLDER).glob("*_crop_*"))


BY_PAGE = [
    "a_doc_123_page_0_crop_1.jpg",
    "a_doc_123_page_0_crop_2.jpg",
    "a_doc_123_page_1_crop_1.jpg",
    "b_doc_123_page_0_crop_1.jpg",
]


def test_crops_are_named_by_page_and_order_and_all_links_follow(out: Path) -> None:
    export(out, ["jsonl", "md", "docjson", "content_list"], crop_names="page")
    assert names(out) == BY_PAGE
    assert crops_of(out) == [f"{FOLDER}/{name}" for name in BY_PAGE]
    for row in rows(out):
        linked = [region["crop"] for region in row["regions"] if "crop" in region]  # type: ignore[attr-defined]
        assert all(f"]({path})" in str(row["markdown"]) for path in linked)
    folder = out / "markdown" / "a"
    text = (folder / "doc_123.md").read_text("utf-8")
    links = [unquote(part.partition(")")[0]) for part in text.split("](")[1:]]
    assert [(folder / link).resolve().read_bytes() for link in links] == [jpeg(10), jpeg(20), jpeg(20)]
    assets = json.loads((out / "docjson" / "b" / "doc_123.json").read_text("utf-8"))["assets"]
    assert [one["path"] for one in assets] == [f"{FOLDER}/b_doc_123_page_0_crop_1.jpg"]
    items = json.loads((out / "content_list" / "b" / "doc_123.json").read_text("utf-8"))
    paths = [one["img_path"] for one in items if "img_path" in one]
    assert paths == [f"../../{FOLDER}/b_doc_123_page_0_crop_1.jpg"]


def test_the_store_stays_as_it_is_and_names_take_no_space(out: Path) -> None:
    before = {path.name: path.read_bytes() for path in (out / "crops").iterdir()}
    export(out, ["jsonl"], crop_names="page")
    after = {path.name: path.read_bytes() for path in (out / "crops").iterdir()}
    assert {name: after[name] for name in before} == before and set(after) - set(before) == set(BY_PAGE)
    assert [region.crop_path for page in Out(out).read_pages() for region in page.regions if region.crop]
    first = out / FOLDER / BY_PAGE[0]
    assert any(first.samefile(out / "crops" / name) for name in before)


def test_content_names_are_the_default_and_come_back(out: Path) -> None:
    export(out, ["jsonl"])
    by_content = crops_of(out)
    assert all(path.startswith("crops/") for path in by_content)
    assert names(out) == []
    export(out, ["jsonl"], crop_names="page")
    export(out, ["jsonl"], crop_names="content")
    assert crops_of(out) == by_content


def test_exporting_again_agrees_with_the_run_and_drops_what_is_gone(out: Path) -> None:
    (out / "run.json").write_text(json.dumps({"format": 1, "crop_names": "page", "plan": []}))
    export(out, ["jsonl"])
    first = crops_of(out)
    stale = out / FOLDER / "a_doc_123_page_7_crop_0.jpg"
    claim(out, stale)
    stale.write_bytes(b"of an earlier run")
    (out / FOLDER / BY_PAGE[0]).unlink()
    (out / FOLDER / BY_PAGE[0]).write_bytes(b"something else under our name")
    export(out, ["jsonl", "md"])
    assert crops_of(out) == first
    assert names(out) == BY_PAGE
    assert (out / FOLDER / BY_PAGE[0]).read_bytes() == jpeg(10)
    assert crop_names_of(None, out) == {"crop_names": "page"}
    assert crop_names_of("content", out) == {"crop_names": "content"}
    assert crop_names_of(None, None) == {}


def test_where_there_are_no_links_a_copy_does(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError("no links here")

    monkeypatch.setattr(os, "link", refuse)
    export(out, ["jsonl"], crop_names="page")
    assert names(out) == BY_PAGE
    assert (out / FOLDER / BY_PAGE[3]).read_bytes() == jpeg(30)


def test_a_crop_that_is_gone_keeps_its_content_name(out: Path) -> None:
    gone = next(region.crop_path for page in Out(out).read_pages() for region in page.regions if region.crop)
    assert gone is not None
    (out / gone).unlink()
    export(out, ["jsonl"], crop_names="page")
    assert crops_of(out)[0] == gone


def test_a_blocks_enrichment_is_found_whatever_its_crop_is_called(out: Path) -> None:
    naming = CropsByPage(Out(out), (entry.id for entry in Out(out).entries()))
    keys = set()
    for one in Out(out).read_pages():
        named = page_blocks(naming.named(one), 0, False)
        assert named.keys == page_blocks(one, 0, False).keys
        assert all("_crop_" in asset.path for asset in named.assets)
        keys |= set(named.keys.values())
    assert {block.id for block in list_blocks(Out(out))} <= keys


def test_a_run_remembers_what_it_was_asked_for(tmp_path: Path) -> None:
    (tmp_path / "page.jpg").write_bytes(jpeg(40))

    def names_after(given: str | None, **more: bool) -> tuple[object, object]:
        options = ParseOptions(
            inputs=(str(tmp_path / "page.jpg"),), recipe=FAKE, executor="inline", crop_names=given, **more
        )
        for _ in parse_work(options, tmp_path / "out"):
            pass
        run = Out(tmp_path / "out").run()
        return run["plan"], run.get("crop_names")

    plan, first = names_after("page")
    assert first == "page"
    assert names_after(None) == (plan, "page")  # resumed: the plan is the same, and so are the names
    assert names_after("content") == (plan, "content")
    assert names_after(None, fresh=True) == (plan, None)


@pytest.mark.parametrize(
    "documents",
    [
        ["doc_1_page_0", "Doc_1_page_0", "doc/1_page_0"],
        ["a/b.pdf", "a_b.pdf"],
        ["Report.pdf", "report.pdf", "report.PNG"],
        ["con.pdf", "a:b?.pdf", "..\\..\\evil.pdf", "/etc/passwd"],
        ["긴 이름 " * 60 + ".pdf", "긴 이름 " * 60 + "2.pdf"],
        ["deep/" * 60 + "page.pdf"],
        ["", ".", "..."],
    ],
)
def test_stems_are_safe_short_and_differ(documents: list[str]) -> None:
    stems = page_stems(documents)
    assert len({stem.casefold() for stem in stems.values()}) == len(documents)
    for stem in stems.values():
        assert stem and not set('<>:"/\\|?*') & set(stem)
        assert not stem.startswith(".") and len(stem.encode()) <= 130
        assert stem.split(".")[0].lower() not in {"con", "prn", "aux", "nul"}


def test_a_row_of_the_seeds_form_has_the_seeds_path(tmp_path: Path) -> None:
    export(written(tmp_path, page("doc_123.pdf", 0, 10, 20)), ["jsonl", "md"], crop_names="page")
    [row] = rows(tmp_path)
    assert row["page_id"] == "doc_123_page_0"
    assert row["image_crops"][1]["path"] == "crops/doc_123_page_0_crop_2.jpg"  # type: ignore[index]
    assert (tmp_path / "crops" / "doc_123_page_0_crop_2.jpg").read_bytes() == jpeg(20)
    assert "](../crops/doc_123_page_0_crop_1.jpg)" in (tmp_path / "markdown" / "doc_123.md").read_text(
        "utf-8"
    )


def test_a_naming_we_do_not_know_is_a_sentence(out: Path) -> None:
    with pytest.raises(UsageError, match="--crop-names colour is not known"):
        export(out, ["jsonl"], crop_names="colour")
