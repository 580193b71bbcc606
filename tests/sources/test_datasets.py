"""Rows of Arrow and Parquet become items whose encoded bytes are passed on untouched."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from penstock.errors import BadInput, UsageError
from penstock.page import Page
from penstock.sources import PageRange, list_items
from penstock.sources.shard_ref import ShardRef
from penstock.sources.tables import ColumnReader, find_columns
from penstock.stages.load import Load
from tests.support.bombs import equal_cells

HUB_IMAGE = pa.struct([("bytes", pa.binary()), ("path", pa.string())])


def picture(number: int, kind: str = "PNG") -> bytes:
    data = io.BytesIO()
    Image.new("RGB", (8, 6), (number % 256, 0, 0)).save(data, kind)
    return data.getvalue()


def table(rows: range, ids: Sequence[Any] | None = None, column: str = "image") -> pa.Table:
    images = [{"bytes": picture(n), "path": f"{n}.png"} for n in rows]
    columns: dict[str, Any] = {"text": [f"row {n}" for n in rows], column: pa.array(images, HUB_IMAGE)}
    return pa.table({"id": ids, **columns} if ids is not None else columns)


def write_arrow(path: Path, content: pa.Table, *, stream: bool, rows_a_batch: int = 3) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    opener = pa.ipc.new_stream if stream else pa.ipc.new_file
    with opener(str(path), content.schema) as writer:
        writer.write_table(content, max_chunksize=rows_a_batch)


def save_to_disk(folder: Path, shards: Sequence[pa.Table]) -> None:
    """The files that `Dataset.save_to_disk` leaves."""
    names = [f"data-{n:05d}-of-{len(shards):05d}.arrow" for n in range(len(shards))]
    for name, shard in zip(names, shards, strict=True):
        write_arrow(folder / name, shard, stream=True)
    (folder / "dataset_info.json").write_text("{}")
    (folder / "state.json").write_text(json.dumps({"_data_files": [{"filename": name} for name in names]}))


def encoded(items: Sequence[Page]) -> list[bytes | None]:
    worker = Load(give="encoded").open()
    try:
        return [worker([item])[0].image for item in items]
    finally:
        worker.close()


@pytest.mark.parametrize("kind", ["file.arrow", "stream.arrow", "file.parquet"])
def test_rows_are_items_and_bytes_are_untouched(tmp_path: Path, kind: str) -> None:
    content, path = table(range(10), [f"page-{n}" for n in range(10)]), tmp_path / kind
    if kind.endswith("parquet"):
        pq.write_table(content, path, row_group_size=4)
    else:
        write_arrow(path, content, stream=kind.startswith("stream"))
    items = list(list_items([str(path)], Page))
    assert [item.id for item in items] == [f"page-{n}" for n in range(10)]
    assert [item.part for item in items] == list(range(10))
    assert {item.document for item in items} == {path.stem}
    assert all(item.image is None for item in items)
    assert encoded(items) == [picture(n) for n in range(10)]
    assert encoded([items[7], items[2], items[9], items[0]]) == [picture(n) for n in (7, 2, 9, 0)]


def test_a_saved_dataset_is_found_with_its_shards_in_order(tmp_path: Path) -> None:
    save_to_disk(tmp_path / "pages", [table(range(4)), table(range(4, 9))])
    items = list(list_items([str(tmp_path / "pages")], Page))
    assert [item.part for item in items] == list(range(9))
    assert {item.document for item in items} == {"pages"}
    assert len({item.id for item in items}) == 9 and items[5].id.endswith("/00000001")
    assert encoded(items) == [picture(n) for n in range(9)]


def test_splits_of_a_saved_dict_are_documents_of_their_own(tmp_path: Path) -> None:
    folder = tmp_path / "kopub"
    save_to_disk(folder / "train", [table(range(2), [1, 2])])
    save_to_disk(folder / "test", [table(range(3), [1, 2, 3])])
    (folder / "dataset_dict.json").write_text('{"splits": ["train", "test", "../outside"]}')
    items = list(list_items([str(folder)], Page))
    assert [item.document for item in items] == ["kopub/train"] * 2 + ["kopub/test"] * 3
    assert [item.id for item in items] == ["1", "2", "1-0", "2-1", "3"]  # ids that repeat get their row


def test_a_hub_folder_is_grouped_by_split(tmp_path: Path) -> None:
    data = tmp_path / "vidore" / "data"
    data.mkdir(parents=True)
    pq.write_table(table(range(3)), data / "train-00000-of-00002.parquet")
    pq.write_table(table(range(3, 5)), data / "train-00001-of-00002.parquet")
    pq.write_table(table(range(5, 6)), data / "test-00000-of-00001-0123456789abcdef.parquet")
    (tmp_path / "vidore" / "README.md").write_text("a card")
    items = list(list_items([str(tmp_path / "vidore")], Page))
    names = [(item.document, item.part) for item in items]
    assert names == [("vidore/test", 0), *(("vidore/train", n) for n in range(5))]
    assert encoded(items) == [picture(n) for n in (5, 0, 1, 2, 3, 4)]


def test_tables_without_pictures_are_passed_by_unless_named(tmp_path: Path) -> None:
    pq.write_table(pa.table({"query": ["why?"], "audio": [b"RIFFxxxxWAVE"]}), tmp_path / "queries.parquet")
    pq.write_table(table(range(2)), tmp_path / "corpus.parquet")
    items = list(list_items([str(tmp_path)], Page))
    assert [item.document.split("/")[-1] for item in items] == ["corpus", "corpus"]
    (item,) = list_items([str(tmp_path / "queries.parquet")], Page)
    assert item.failure is not None and "no column of pictures" in item.failure.message
    assert "--image-column" in item.failure.advice


def test_columns_can_be_named(tmp_path: Path) -> None:
    content = table(range(3), [7, 8, 9], column="scan#1:a")
    content = content.append_column("other", pa.array([picture(100 + n) for n in range(3)]))
    content = content.append_column("쪽", pa.array(["가", "나", "다"]))
    pq.write_table(content, tmp_path / "a.parquet")
    found = list(list_items([str(tmp_path)], Page))
    assert [item.id for item in found] == ["7", "8", "9"] and encoded(found)[0] == picture(0)
    named = list(list_items([str(tmp_path)], Page, image_column="other", id_column="쪽"))
    assert [item.id for item in named] == ["가", "나", "다"] and encoded(named)[0] == picture(100)
    with pytest.raises(UsageError):
        list_items([str(tmp_path)], Page, image_column="absent")
    (item,) = list_items([str(tmp_path / "a.parquet")], Page, id_column="absent")
    assert item.failure is not None and "has no column 'absent'" in item.failure.message
    assert "쪽" in item.failure.advice


def test_rows_without_ids_or_with_hostile_ones_stay_apart(tmp_path: Path) -> None:
    pq.write_table(table(range(5), ["a", None, "a", "", "x\ny"]), tmp_path / "a.parquet")
    ids = [item.id for item in list_items([str(tmp_path)], Page)]
    assert ids[0] == "a" and ids[2] == "a-2" and ids[4] == "x_y" and len(set(ids)) == 5
    assert ids[1].endswith("/00000001") and ids[3].endswith("/00000003")


def test_a_row_without_a_picture_fails_alone(tmp_path: Path) -> None:
    content = pa.table({"image": pa.array([None, {"bytes": picture(1), "path": None}, None], HUB_IMAGE)})
    pq.write_table(content, tmp_path / "a.parquet")
    items = list(list_items([str(tmp_path)], Page))
    assert len(items) == 3 and encoded(items[1:2]) == [picture(1)]
    with pytest.raises(BadInput, match=r"row 2: the row has no picture"):
        encoded(items[2:])


def test_a_picture_beside_the_table_is_read_and_one_outside_is_not(tmp_path: Path) -> None:
    folder = tmp_path / "set"
    folder.mkdir()
    (folder / "in.png").write_bytes(picture(3))
    (tmp_path / "out.png").write_bytes(picture(4))
    paths = [{"bytes": None, "path": "in.png"}, {"bytes": None, "path": "../out.png"}]
    pq.write_table(pa.table({"image": pa.array(paths, HUB_IMAGE)}), folder / "a.parquet")
    items = [item for item in list_items([str(folder)], Page) if item.media == "parquet"]
    assert encoded(items[:1]) == [picture(3)]
    with pytest.raises(BadInput, match="outside its dataset"):
        encoded(items[1:])


def test_a_damaged_shard_costs_only_itself(tmp_path: Path) -> None:
    save_to_disk(tmp_path / "pages", [table(range(2)), table(range(2, 4)), table(range(4, 6))])
    (tmp_path / "pages" / "data-00001-of-00003.arrow").write_bytes(
        b"\xff\xff\xff\xff\x10\0\0\0broken broken!"
    )
    items = list(list_items([str(tmp_path / "pages")], Page))
    assert [item.failure is not None for item in items] == [False, False, True, False, False]
    assert items[2].failure is not None and "data-00001" in items[2].failure.message
    (tmp_path / "pages" / "data-00000-of-00003.arrow").unlink()
    later = {item.id for item in items[3:]}
    items = list(list_items([str(tmp_path / "pages")], Page))
    assert [item.failure is not None for item in items] == [True, True, False, False]
    assert {item.id for item in items[2:]} == later


def test_page_ranges_choose_rows(tmp_path: Path) -> None:
    save_to_disk(tmp_path / "pages", [table(range(4)), table(range(4, 9)), table(range(9, 12))])
    items = list(list_items([str(tmp_path / "pages")], Page, pages=PageRange.parse("2,5-6")))
    assert [item.part for item in items] == [1, 4, 5]
    assert encoded(items) == [picture(n) for n in (1, 4, 5)]


def test_pixels_come_from_rows_too(tmp_path: Path) -> None:
    pq.write_table(table(range(40, 43)), tmp_path / "a.parquet")
    worker = Load().open()
    loaded = [worker([item])[0] for item in list_items([str(tmp_path)], Page)]
    worker.close()
    assert [int(item.pixels[0, 0, 0]) for item in loaded if item.pixels is not None] == [40, 41, 42]
    assert all((item.width, item.height) == (8, 6) and item.image is None for item in loaded)


def test_a_table_of_pages_and_loose_pictures_may_share_a_folder(tmp_path: Path) -> None:
    pq.write_table(table(range(2)), tmp_path / "b.parquet")
    (tmp_path / "a.png").write_bytes(picture(1))
    assert [item.media for item in list_items([str(tmp_path)], Page)] == ["image", "parquet", "parquet"]


def test_listing_does_not_read_the_pictures(tmp_path: Path) -> None:
    """The picture column of a Parquet file is overwritten: ids still come, only rows fail."""
    content = table(range(50), list(range(50)))
    pq.write_table(
        content, tmp_path / "a.parquet", compression="none", row_group_size=10, use_dictionary=False
    )
    chunk = pq.ParquetFile(tmp_path / "a.parquet").metadata.row_group(4).column(2)
    data = bytearray((tmp_path / "a.parquet").read_bytes())
    start = chunk.data_page_offset
    data[start : start + chunk.total_compressed_size] = b"\xee" * chunk.total_compressed_size
    (tmp_path / "a.parquet").write_bytes(data)
    items = list(list_items([str(tmp_path)], Page))
    assert [item.id for item in items] == [str(n) for n in range(50)]
    assert encoded(items[:1]) == [picture(0)]
    with pytest.raises(BadInput, match="table is damaged"):
        encoded(items[45:46])


def test_datasets_of_the_same_name_stay_apart(tmp_path: Path) -> None:
    for folder in "ab":
        save_to_disk(tmp_path / folder / "pages", [table(range(2))])
    folders = [str(tmp_path / folder / "pages") for folder in ("a", "b", "a")]
    items = list(list_items(folders, Page))
    assert [item.document for item in items] == ["pages", "pages", "pages-2", "pages-2"]
    assert len({item.id for item in items}) == 4


def test_a_shard_reference_survives_any_path() -> None:
    ref = ShardRef(Path("/data/a#b:c/x.arrow"), 120, "page #1: image/경로")
    assert ShardRef.parse(ref.uri) == ref


def test_a_table_that_claims_more_rows_than_bytes_is_one_failure(tmp_path: Path) -> None:
    rows = 200_000
    values = pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int32)), [picture(1)])
    pq.write_table(pa.table({"image": values}), tmp_path / "rows.parquet", store_schema=False)
    (item,) = list_items([str(tmp_path / "rows.parquet")], Page)
    assert item.failure is not None
    assert "claims 200,000 rows, more than it has bytes" in item.failure.message


def test_pictures_of_a_table_are_decoded_one_by_one(tmp_path: Path) -> None:
    """Sixteen equal ones of 100 MB are 3 kB on disk."""
    equal_cells(tmp_path / "a.parquet", size_mb=1)
    with ColumnReader(str(tmp_path / "a.parquet"), "image") as reader:
        assert [len(chunk) for _, chunk in reader._chunks_from(0)] == [1] * 16


def test_counting_rows_needs_no_column(tmp_path: Path) -> None:
    write_arrow(tmp_path / "a.arrow", table(range(10)), stream=True)
    with ColumnReader(str(tmp_path / "a.arrow")) as rows:
        counted, start = [], 0
        while many := rows.count(start, 4):
            counted.append(many)
            start += many
    assert sum(counted) == 10
    assert find_columns(str(tmp_path / "a.arrow")).image == "image"
