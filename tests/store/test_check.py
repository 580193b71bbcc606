"""A damaged ledger says so, tells what is gone, and is mended by the next run."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import penstock
from penstock.cli.app import app
from penstock.driver import Run
from penstock.errors import PenstockError, StoreError, UsageError
from penstock.executors.inline import Inline
from penstock.exports.correct import correct
from penstock.page import Page
from penstock.region import Asset, Region
from penstock.store import manifest
from penstock.store.check import check_out, set_aside
from penstock.store.contents import CORRECTIONS
from penstock.store.ledger import ITEMS_DIR, Ledger, ShardWriter
from penstock.store.out import Out
from penstock.store.ownership import claim
from penstock.store.schema import PAGES
from penstock.store.source_order import DOCUMENTS, read_order
from penstock.testing.fake_recipe import fake
from tests.conftest import SAMPLE


def pages(*numbers: int) -> list[Page]:
    crop = Asset(path="crops/ab/abc.png", data=b"a crop")
    regions = (Region(label="picture", box=(0, 0, 1, 1), content="words " * 50, crop=crop),)
    bare = [Page(id=f"a/{n:05d}", uri="a.pdf", document="a.pdf", part=n) for n in numbers]
    return [replace(page, regions=regions, markdown=f"page {page.part} " * 40) for page in bare]


def written(out: Path, *numbers: int) -> Path:
    """Commits one shard of these pages; returns it."""
    before = set(out.glob("items/*"))
    writer = ShardWriter(out, PAGES)
    for page in pages(*numbers):
        writer.add(page)
    writer.commit()
    (shard,) = set(out.glob("items/*")) - before
    return shard


def flip(shard: Path, at: float) -> None:
    """One bit of the file is another, as a bad disk makes it."""
    data = bytearray(shard.read_bytes())
    data[int(len(data) * at)] ^= 0x10
    shard.write_bytes(data)


def test_a_whole_ledger_is_called_whole(tmp_path: Path) -> None:
    written(tmp_path, 0, 1)
    found = check_out(tmp_path)
    assert (found.shards, found.rows, found.damages, found.missing) == (1, 2, (), ())
    told = CliRunner().invoke(app, ["check", str(tmp_path)])
    assert (told.exit_code, "All of it is whole." in told.output) == (0, True)


def test_what_people_corrected_is_part_of_a_whole_run_and_a_torn_one_is_told(tmp_path: Path) -> None:
    writer = ShardWriter(tmp_path, PAGES)
    writer.add(replace(pages(0)[0], width=100, height=100))
    writer.commit()
    correct(Out(tmp_path), "penstock:a.pdf/p1/r0", "other words", who="kim")
    assert check_out(tmp_path).damages == ()
    [shard] = (tmp_path / CORRECTIONS).iterdir()
    shard.write_bytes(shard.read_bytes()[:-20])
    assert [damage.path for damage in check_out(tmp_path).damages] == [shard]


def test_a_flipped_bit_is_found_or_harms_no_row(tmp_path: Path) -> None:
    """Those that pass lie in Parquet's own statistics and hints, which we do not read by."""
    shard = written(tmp_path, *range(6))
    good = shard.read_bytes()
    footer = int.from_bytes(good[-8:-4], "little")
    rows = len(good) - 8 - footer
    unnoticed = []
    for place in range(16, rows, max(1, rows // 40)):
        shard.write_bytes(good[:place] + bytes([good[place] ^ 0x10]) + good[place + 1 :])
        if not check_out(tmp_path).damages:
            unnoticed.append(place)
    assert 40 - len(unnoticed) > 20
    want = [replace(page, regions=tuple(map(_stored, page.regions))) for page in pages(*range(6))]
    for place in unnoticed:
        shard.write_bytes(good[:place] + bytes([good[place] ^ 0x10]) + good[place + 1 :])
        ledger = Ledger(tmp_path, PAGES)
        assert [ledger.item(entry) for entry in ledger.entries().values()] == want


def _stored(region: Region) -> Region:
    assert region.crop is not None
    return replace(region, crop=region.crop.stored())


@pytest.mark.parametrize("harm", ["flipped", "truncated", "empty", "text", "older"])
def test_a_damaged_shard_is_a_sentence_with_the_way_out(tmp_path: Path, harm: str) -> None:
    written(tmp_path, 0)
    shard = written(tmp_path, 1, 2)
    _harm(shard, harm)
    with pytest.raises(StoreError, match=r"check OUT --repair") as told:
        ledger = Ledger(tmp_path, PAGES)
        [ledger.item(entry) for entry in ledger.entries().values()]
    assert shard.name in told.value.message


def _harm(shard: Path, harm: str) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    if harm == "flipped":
        flip(shard, 0.3)
    elif harm == "older":
        pq.write_table(pa.table({"id": ["a/00001"], "text": ["of long ago"]}), shard)
    else:
        data = shard.read_bytes()
        shard.write_bytes({"truncated": data[: len(data) // 2], "empty": b"", "text": b"hello"}[harm])


def test_what_is_damaged_is_set_aside_and_its_pages_are_read_again(tmp_path: Path) -> None:
    out = tmp_path / "out"
    read(out, 4)
    before = [page.markdown for page in penstock.read(out)]
    (shard,) = (out / ITEMS_DIR).iterdir()
    shard.write_bytes(shard.read_bytes()[:-20])
    told = CliRunner().invoke(app, ["check", str(out)])
    assert (told.exit_code, "cannot be read" in told.output, "--repair" in told.output) == (1, True, True)
    told = CliRunner().invoke(app, ["check", str(out), "--repair", "--json"])
    assert told.exit_code == 0
    assert json.loads(told.output)["set_aside"] == [f"damaged/items-{shard.name}"]
    assert (out / "damaged" / f"items-{shard.name}").is_file()
    assert read(out, 4) == 4
    assert [page.markdown for page in penstock.read(out)] == before
    assert check_out(out).damages == ()


def read(out: Path, count: int) -> int:
    """Reads the sample with the fake recipe; returns how many pages were not done before."""
    from penstock.sources import list_items

    run = Run(fake(), Inline(), out, PAGES)
    done = len(list(run.items(list_items([str(SAMPLE)], Page))))
    assert run.tally.listed == count
    return done


def test_the_pages_that_are_gone_are_named(tmp_path: Path) -> None:
    written(tmp_path, 0, 1)
    shard = written(tmp_path, 1, 2, 3)
    shard.write_bytes(_broken_after_ids(shard))
    (damage,) = check_out(tmp_path).damages
    assert damage.pages == ("a/00002", "a/00003")


def _broken_after_ids(shard: Path) -> bytes:
    """One bit of the words is another; the ids stay readable."""
    import pyarrow.parquet as pq

    row = pq.ParquetFile(shard).metadata.row_group(0)
    markdown = next(
        row.column(index)
        for index in range(row.num_columns)
        if row.column(index).path_in_schema == "markdown"
    )
    data = bytearray(shard.read_bytes())
    start = markdown.dictionary_page_offset or markdown.data_page_offset
    magic = data.index(b"\x28\xb5\x2f\xfd", start)  # where zstd's frame begins, RFC 8878
    data[magic + 12] ^= 0x10
    return bytes(data)


def test_a_crop_that_is_gone_is_told_and_harms_no_page(tmp_path: Path) -> None:
    written(tmp_path, 0)
    shutil.rmtree(tmp_path / "crops")
    found = check_out(tmp_path)
    assert (found.damages, found.missing) == ((), ("crops/ab/abc.png",))


@pytest.mark.parametrize("text", ["", "{", "[]", "3", '{"plan": 7}', '{"plan": [{}]}', "\0\0"])
def test_a_broken_run_json_is_a_sentence(tmp_path: Path, text: str) -> None:
    written(tmp_path, 0)
    claim(tmp_path, tmp_path / manifest.RUN)
    (tmp_path / manifest.RUN).write_text(text)
    with pytest.raises(UsageError, match="is not a run's description"):
        manifest.check(tmp_path, fake())
    assert [damage.path.name for damage in check_out(tmp_path).damages] == [manifest.RUN]
    set_aside(tmp_path, check_out(tmp_path).damages)
    assert (tmp_path / "damaged" / manifest.RUN).read_text() == text
    assert manifest.read(tmp_path) is None


@pytest.mark.parametrize(
    "text", ["{", "[]\n", '{"document": 1', '{"files": {}}\n', '{"document": "a", "files": 3}']
)
def test_a_broken_order_of_documents_is_a_sentence(tmp_path: Path, text: str) -> None:
    written(tmp_path, 0)
    claim(tmp_path, tmp_path / DOCUMENTS)
    (tmp_path / DOCUMENTS).write_text(text)
    with pytest.raises(PenstockError, match=r"documents\.jsonl is damaged"):
        read_order(tmp_path)
    set_aside(tmp_path, check_out(tmp_path).damages)
    assert read_order(tmp_path) == {}


@pytest.mark.parametrize("column", ["id", "attempt", "document", "part"])
def test_a_shard_without_a_key_is_set_aside_and_the_rest_is_read(tmp_path: Path, column: str) -> None:
    bad, good = written(tmp_path, 0), written(tmp_path, 1)
    pq.write_table(pq.read_table(bad).drop_columns([column]), bad)
    with pytest.raises(StoreError, match=f"no column '{column}'"):
        Ledger(tmp_path, PAGES).entries()
    assert [damage.path for damage in check_out(tmp_path).damages] == [bad]
    set_aside(tmp_path, check_out(tmp_path).damages)
    assert check_out(tmp_path).damages == ()
    assert {entry.shard for entry in Ledger(tmp_path, PAGES).entries().values()} == {good}


@pytest.mark.parametrize(("name", "is_folder"), [(DOCUMENTS, True), (manifest.RUN, True), ("crops", False)])
def test_what_is_in_the_place_of_ours_is_damage_that_a_repair_leaves_alone(
    tmp_path: Path, name: str, is_folder: bool
) -> None:
    writer = ShardWriter(tmp_path, PAGES)
    writer.add(Page(id="a/00000", uri="a.pdf", document="a.pdf", part=0))
    writer.commit()
    place = tmp_path / name
    place.mkdir() if is_folder else place.write_text("mine")
    answer = CliRunner().invoke(app, ["check", str(tmp_path), "--repair"])
    assert answer.exit_code == 1
    assert f"{place} is in the place of a " in answer.output
    assert place.exists()


def test_a_run_ends_with_a_sentence_where_its_ledger_is_damaged(tmp_path: Path) -> None:
    shard = written(tmp_path, 0)
    shard.write_bytes(b"")
    told = CliRunner().invoke(app, ["export", str(tmp_path), "--to", "jsonl"])
    assert isinstance(told.exception, StoreError), told.output


def test_run_json_and_every_shard_say_their_format(tmp_path: Path) -> None:
    shard = written(tmp_path, 0)
    manifest.write(tmp_path, fake())
    assert json.loads((tmp_path / manifest.RUN).read_text())["format"] == 1
    assert pq.read_schema(shard).metadata[b"format"] == b"1"


@pytest.mark.parametrize("number", [None, 0, 2, "two"])
@pytest.mark.parametrize(
    "verb", [["parse", str(SAMPLE), "-o"], ["export", "--to", "jsonl"], ["check", "--repair"]]
)
def test_an_out_of_another_format_is_refused_and_left_as_it_is(
    tmp_path: Path, verb: list[str], number: object
) -> None:
    written(tmp_path, 0)
    manifest.write(tmp_path, fake())
    run = tmp_path / manifest.RUN
    facts = {**json.loads(run.read_text()), "format": number}
    run.write_text(json.dumps({key: value for key, value in facts.items() if value is not None}))
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    told = CliRunner().invoke(app, [*verb, str(tmp_path)])
    assert told.exit_code != 0 and isinstance(told.exception, UsageError), told.output
    assert "this Penstock reads format 1" in str(told.exception)
    assert "another OUT" in str(told.exception)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_a_shard_of_another_format_is_not_read_as_ours(tmp_path: Path) -> None:
    bad, good = written(tmp_path, 0), written(tmp_path, 1)
    pq.write_table(pq.read_table(bad).replace_schema_metadata({b"format": b"2"}), bad)
    with pytest.raises(StoreError, match=r"is of format 2; this Penstock reads format 1"):
        Ledger(tmp_path, PAGES).entries()
    assert [damage.path for damage in check_out(tmp_path).damages] == [bad]
    set_aside(tmp_path, check_out(tmp_path).damages)
    assert {entry.shard for entry in Ledger(tmp_path, PAGES).entries().values()} == {good}


def test_a_folder_that_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    told = CliRunner().invoke(app, ["check", str(tmp_path / "none")])
    assert isinstance(told.exception, UsageError)
