"""What a user asks of photos: boxes, depths, options."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from penstock.errors import UsageError
from penstock.passes.photo_words import parse_box, parse_depth
from penstock.passes.photos import PhotoOptions
from penstock.photo import Photo
from penstock.photos.user_boxes import is_for
from penstock.recipes.photos import photos
from penstock.stages.reconstruct import Reconstruct


def test_a_row_of_a_dataset_is_named_by_its_id() -> None:
    row = Photo(id="kitchen", uri="/data/rooms.parquet", document="rooms", media="parquet")
    box = parse_box("kitchen=1,2,30,40:chair")
    assert is_for(box, row) and not is_for(box, replace(row, id="hall"))


def test_boxes_are_read_or_refused_with_a_sentence() -> None:
    box = parse_box("a/room.jpg=10,20,300,400:office chair")
    assert (box.photo, box.box, box.label) == ("a/room.jpg", (10, 20, 310, 420), "office chair")
    assert parse_box("1,2,3,4:책상").label == "책상"
    assert (str(box), str(parse_box("1,2,3,4:책상"))) == (
        "a/room.jpg=10,20,300,400:office chair",
        "1,2,3,4:책상",
    )
    for wrong in (
        "1,2,3:chair",
        "1,2,3,4",
        "1,2,0,4:chair",
        "a,b,c,d:chair",
        "1,2,3,nan:chair",
        "1,2,inf,4:chair",
    ):
        with pytest.raises(UsageError, match=r"--box"):
            parse_box(wrong)


def test_what_cannot_be_is_refused_before_anything_is_loaded(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--detector magic"):
        photos(detector="magic")
    with pytest.raises(UsageError, match="cannot tell 의자 from 책상"):
        photos(detector="saliency", labels=("의자", "책상"))
    with pytest.raises(UsageError, match="called 'soffa'") as refused:
        photos(detector="grounded", labels=("soffa",))
    assert "Near names: sofa" in refused.value.advice
    with pytest.raises(UsageError, match="called '소퍼'") as refused:
        photos(detector="saliency", labels=("소퍼",))
    assert "소파" in refused.value.advice
    with pytest.raises(UsageError, match="cannot see '옷장'") as refused:
        photos(detector="nanodet", labels=("소파", "옷장"))
    assert "couch" in refused.value.advice
    photos(detector="grounded", labels=("guitar",))  # it reads words that no table has
    with pytest.raises(UsageError, match="no English word"):
        photos(detector="grounded", labels=("가야금",))
    with pytest.raises(UsageError, match="SAM-3D's options need its engine"):
        PhotoOptions(photos=("a.jpg",), sam3d={"with_texture": True}).plan()
    with pytest.raises(UsageError, match="--setting huge"):
        PhotoOptions(photos=("a.jpg",), settings={"engine": "sam3d"}, sam3d={"setting": "huge"}).plan()
    depth = tmp_path / "d.npy"
    with pytest.raises(UsageError, match="there is no file"):
        parse_depth(f"a.jpg={depth}", ("a.jpg", "b.jpg"))
    depth.touch()
    assert parse_depth(f"a.jpg={depth}", ("a.jpg", "b.jpg")).photo == "a.jpg"
    with pytest.raises(UsageError, match=r"Write --depth room.jpg="):
        parse_depth(str(depth), ("a.jpg", "b.jpg"))


def test_sam3d_options_reach_its_engine_under_its_own_names() -> None:
    sam3d = {"python": "py", "with_texture": True, "floor_depth": True}
    plan = PhotoOptions(photos=("a.jpg",), settings={"engine": "sam3d"}, sam3d=sam3d).plan()
    [mesh] = [stage.mesh for stage in plan if isinstance(stage, Reconstruct)]
    assert (mesh.python, mesh.with_texture, mesh.floor_depth, mesh.with_mesh) == ("py", True, True, False)


def test_one_label_does_not_name_the_things_of_several_photos(tmp_path: Path) -> None:
    named = {"detector": "saliency", "labels": ("sofa",)}
    for several in (("a.jpg", "b.jpg"), (str(tmp_path),), ("*.jpg",)):
        with pytest.raises(UsageError, match="a thing of every photo would be a sofa"):
            PhotoOptions(photos=several, settings=named).plan()
    PhotoOptions(photos=("a.jpg",), settings=named).plan()
    PhotoOptions(photos=("a.jpg", "b.jpg"), settings=named, boxes=(parse_box("1,2,30,40:sofa"),)).plan()
