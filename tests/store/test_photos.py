"""Photos and their objects in the ledger."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from penstock.errors import EngineError
from penstock.store import schema
from penstock.store.ledger import Ledger, ShardWriter
from penstock.store.out import Out
from penstock.store.schema import PHOTOS
from tests.support.things import photo, thing


def test_objects_survive_the_store_and_their_files_are_written(tmp_path: Path) -> None:
    writer = ShardWriter(tmp_path, PHOTOS)
    kept = writer.add(photo(objects=(thing(), thing(1, mesh=b"glb", mesh_path="meshes/c.glb"))))
    writer.commit()
    [back] = Out(tmp_path).read_photos()
    assert back == kept
    assert back.objects[0] == thing(mask=None, cloud=None, score=1.0)
    assert (tmp_path / "masks/a.png").read_bytes() == b"mask"
    assert (tmp_path / "meshes/c.glb").read_bytes() == b"glb"


def test_shards_from_before_objects_are_still_read(tmp_path: Path) -> None:
    writer = ShardWriter(tmp_path, PHOTOS)
    writer.add(photo())
    writer.commit()
    [shard] = (tmp_path / "items").glob("*.parquet")
    pq.write_table(pq.read_table(shard).drop_columns(["objects"]), shard)
    [back] = Out(tmp_path).read_photos()
    assert back.objects == ()


def test_a_photo_with_a_failed_object_is_tried_again_when_asked(tmp_path: Path) -> None:
    from penstock.processes.part_pool import failure_of

    failed = thing(failure=failure_of(EngineError("broke"), "reconstruct"))
    assert schema.PHOTOS.to_row(photo(objects=(failed, thing(1))))["num_failed_regions"] == 1
    writer = ShardWriter(tmp_path, PHOTOS)
    writer.add(photo(objects=(failed,)))
    writer.commit()
    assert Ledger(tmp_path, PHOTOS).entries()["p"].incomplete


def test_lists_of_a_fixed_length_are_only_where_no_value_is_missing() -> None:
    """pyarrow before 26 writes a missing list of a fixed length to Parquet and cannot read it again."""
    found = {place for field in schema.ITEMS for place in fixed_lists(field.name, field.type)}
    boxes = {"regions.box", "regions.lines.box", "regions.cells.box", "objects.box", "form.box"}
    assert found == {*boxes, "regions.polygon"}


def fixed_lists(name: str, kind: pa.DataType) -> list[str]:
    if pa.types.is_fixed_size_list(kind):
        return [name]
    if pa.types.is_list(kind):
        return fixed_lists(name, kind.value_type)
    if pa.types.is_struct(kind):
        return [place for field in kind for place in fixed_lists(f"{name}.{field.name}", field.type)]
    return []


def test_shards_whose_sizes_have_a_fixed_length_are_still_read(tmp_path: Path) -> None:
    writer = ShardWriter(tmp_path, PHOTOS)
    kept = writer.add(photo(objects=(thing(),)))
    writer.commit()
    [shard] = (tmp_path / "items").glob("*.parquet")
    table = pq.read_table(shard)
    old = [pa.field(f.name, pa.list_(pa.float64(), 3)) if f.name == "size" else f for f in schema.OBJECT]
    place = table.schema.get_field_index("objects")
    column = table.column("objects").cast(pa.list_(pa.struct(old)))
    pq.write_table(table.set_column(place, "objects", column), shard)
    [back] = Out(tmp_path).read_photos()
    assert back == kept
