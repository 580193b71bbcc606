"""SAM-3D's adapter against a stand-in with the published signatures, in an environment of its own."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.lib.scenes import rooms

from penstock.engines.mesh.request import COMPILE_S, MeshOptions
from penstock.engines.mesh.shape_cache import UNFINISHED, KeptShapes
from penstock.errors import OpenError
from penstock.passes.photos import PhotoOptions, photos_work
from penstock.photo import Photo, PhotoObject
from penstock.photos import notes
from penstock.photos.masks import pack
from penstock.photos.user_boxes import GivenBox, GivenDepth
from penstock.processes.child import Child
from penstock.stages.measure import Measure
from penstock.stages.reconstruct import Reconstruct
from penstock.store.out import Out
from tests.support.needs import needs_saliency
from tests.support.sam3d_stand_in import TURN, calls, config, environment

WIDE, TALL = 160, 120


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> str:
    return environment(tmp_path_factory.mktemp("sam3d") / "env")


def photo(things: int = 1, top: int = 50) -> Photo:
    """A photo of noise, on which a flat square would be told from what is really sent."""
    mask = np.zeros((TALL, WIDE), bool)
    mask[top : top + 50, 60:100] = True
    thing = PhotoObject(label="chair", box=(60, top, 100, top + 50), mask=pack(mask), mask_path="m.png")
    others = [replace(thing, index=n, mask=pack(np.roll(mask, n, axis=1))) for n in range(things)]
    pixels = np.random.default_rng(0).integers(0, 255, (TALL, WIDE, 3), np.uint8)
    return Photo(
        id="p", uri="p.jpg", document="p.jpg", pixels=pixels, objects=tuple(others), width=WIDE, height=TALL
    )


def upper_mask() -> bytes:
    """A thing in the part of the photo where MoGe sees nothing."""
    mask = np.zeros((TALL, WIDE), bool)
    mask[2:28, 60:100] = True
    return pack(mask)


def reconstructed(item: Photo, mesh: MeshOptions, **stage: Any) -> Photo:
    worker = Reconstruct(engine="sam3d", mesh=mesh, **stage).open()
    try:
        return worker([item])[0]
    finally:
        worker.close()


def test_poses_are_kept_and_used(python: str, tmp_path: Path) -> None:
    np.save(tmp_path / "depth.npy", np.full((TALL, WIDE), 2.0, np.float32))
    mesh = MeshOptions(python=python, config=str(config(tmp_path)))
    depth = (GivenDepth("", str(tmp_path / "depth.npy")),)
    [thing] = reconstructed(photo(), mesh, depths=depth).objects
    assert thing.failure is None
    assert thing.estimate == "metric"
    assert thing.rotation == pytest.approx(TURN)
    assert thing.position is not None
    x, y, z = thing.position  # the mask's middle is at the photo's middle and below it: y points down
    assert (x, z) == pytest.approx((0.0, 2.0), abs=0.02)
    assert 0.1 < y < 0.5
    assert thing.distance == pytest.approx(2.0, abs=0.3)
    [call] = calls(Path(mesh.config))
    assert call["python"] == str(Path(python).parents[1])  # no interpreter of ours ran it
    assert call["stage"] == "gaussian_4"


def test_a_shape_that_stands_where_the_thing_is_not_seen_is_at_odds(python: str, tmp_path: Path) -> None:
    depth = np.full((TALL, WIDE), np.nan, np.float32)
    depth[50:100, 60:100] = 2.0
    np.save(tmp_path / "depth.npy", depth)
    mesh = MeshOptions(python=python, config=str(config(tmp_path)))
    given = photo()
    elsewhere = replace(given, objects=(replace(given.objects[0], box=(0, 0, 20, 20)),))
    done = reconstructed(elsewhere, mesh, depths=(GivenDepth("", str(tmp_path / "depth.npy")),))
    [thing] = Measure().open()([done])[0].objects
    assert thing.measurement_notes.count(notes.AT_ODDS) == 1


def test_what_moge_does_not_see_is_left_out_and_sets_no_scale(python: str, tmp_path: Path) -> None:
    mesh = MeshOptions(python=python, config=str(config(tmp_path)), moge="moge-2")
    low, high = photo(top=50).objects[0], replace(photo(top=0).objects[0], index=1, cut=("top",))
    both = replace(photo(), objects=(low, replace(high, mask=upper_mask())))
    seen, unseen = reconstructed(both, mesh).objects
    assert (seen.estimate, seen.failure) == ("metric", None)  # the stand-in refuses infinite points
    assert (unseen.estimate, unseen.failure) == ("anchored", None)
    assert {call["seen"] for call in calls(Path(mesh.config))} == {0.75}


def test_memory_that_spconv_lacks_leads_to_a_smaller_setting(python: str, tmp_path: Path) -> None:
    words = "cumm/include/tensorview/tensor.h(171) cuda failed with error 2 out of memory."
    path = config(tmp_path, gaussian=words, gaussian_4="CUDA out of memory. Tried to allocate 2 GiB")
    mesh = MeshOptions(python=python, config=str(path), setting="gaussian")
    [thing] = reconstructed(photo(), mesh).objects
    assert thing.failure is None
    asked = calls(path)
    assert [call["stage"] for call in asked] == ["gaussian", "gaussian_4", "stage1"]
    assert len({call["pid"] for call in asked}) == 1


def test_a_lost_gpu_leads_to_a_smaller_setting_in_a_fresh_process(python: str, tmp_path: Path) -> None:
    path = config(tmp_path, gaussian_4="cuda failed with error 700 an illegal memory access was encountered")
    [thing] = reconstructed(photo(), MeshOptions(python=python, config=str(path))).objects
    assert thing.failure is None
    first, second = calls(path)
    assert (first["stage"], second["stage"]) == ("gaussian_4", "stage1")
    assert first["pid"] != second["pid"]


def test_a_thing_without_a_shape_fails_alone(python: str, tmp_path: Path) -> None:
    words = "N > 0 assert faild. CUDA kernel launch blocks must be positive, but got N= 0"
    path = config(tmp_path, gaussian_4=words)
    [thing] = reconstructed(photo(), MeshOptions(python=python, config=str(path))).objects
    assert thing.failure is not None
    assert "no shape" in thing.failure.message
    assert len(calls(path)) == 1


def test_it_warms_up_on_the_first_photo_and_opening_bears_compilation(python: str, tmp_path: Path) -> None:
    path = config(tmp_path)
    mesh = MeshOptions(python=python, config=str(path), compile=True)  # its own warm-up is broken
    [thing] = reconstructed(photo(), mesh).objects
    assert thing.failure is None
    [call] = calls(path)  # nothing made up was sent before
    assert call["colours"] > 200
    assert mesh.opening_s == COMPILE_S > MeshOptions().opening_s


def test_the_first_answer_may_take_as_long_as_opening(python: str) -> None:
    slow = "lambda _: __import__('time').sleep(0.4)"
    with Child(partial(eval, slow), name="cold", executable=python, open_s=30.0, warms_up=True) as child:
        child.call("", deadline_s=0.1)  # the second would be ended
    with (
        Child(partial(eval, "1 / 0"), name="late", executable=python, open_s=30.0) as child,
        pytest.raises(OpenError),
    ):
        child.start()


def test_a_run_that_was_killed_goes_on_with_the_next_object(python: str, tmp_path: Path) -> None:
    path, kept = config(tmp_path), tmp_path / UNFINISHED
    mesh = MeshOptions(python=python, config=str(path))
    reconstructed(photo(things=2), mesh, kept=str(kept))  # no row of the photo was written
    done = reconstructed(photo(things=3), mesh, kept=str(kept))
    assert len(calls(path)) == 3
    assert all(thing.failure is None and thing.cloud for thing in done.objects)
    other = replace(mesh, stage1_steps=12)
    reconstructed(photo(things=1), other, kept=str(kept))
    assert len(calls(path)) == 4
    half = next(kept.rglob("*.npz"))
    half.write_bytes(half.read_bytes()[:100])
    assert KeptShapes(str(kept)).find("p", half.stem) is None


def test_moge_measures_for_the_engine_without_weights_too(python: str) -> None:
    mesh = MeshOptions(python=python, moge="moge-2")
    worker = Reconstruct(mesh=mesh).open()
    try:
        [thing] = worker([photo()])[0].objects
    finally:
        worker.close()
    assert thing.failure is None
    assert {notes.CAMERA_BY_DEPTH, notes.LENS_BY_DEPTH} <= set(thing.measurement_notes)
    alone = PhotoOptions(photos=("p.jpg",), sam3d={"moge": "moge-2", "python": python}).plan()
    assert [stage.mesh for stage in alone if isinstance(stage, Reconstruct)] == [mesh]


@pytest.mark.slow
@needs_saliency
def test_an_object_that_failed_is_tried_again_alone(python: str, tmp_path: Path) -> None:
    room = rooms.draw(0, num_things=2, width=400, height=300)
    (tmp_path / "room.jpg").write_bytes(room.jpeg)
    boxes = [GivenBox("", box, "chair") for box in boxes_of(room)[:2]]
    path, out = config(tmp_path / "sam3d", from_call_1="something went wrong"), tmp_path / "out"
    options = PhotoOptions(
        photos=(str(tmp_path / "room.jpg"),),
        boxes=tuple(boxes),
        settings={"engine": "sam3d", "detector": "saliency", "gpus": 1, "cores": 1},
        sam3d={"python": python, "config": str(path)},
    )
    photos_work(options, out).finish()
    [row] = Out(out).read_photos()
    assert [thing.failure is None for thing in row.objects].count(True) == 1
    assert (out / UNFINISHED).is_dir()
    config(tmp_path / "sam3d")
    photos_work(replace(options, retry_failed=True), out).finish()
    [row] = Out(out).read_photos()
    assert [thing.failure for thing in row.objects] == [None, None]
    assert len(calls(path)) == 3  # the one that was done was not built again
    assert not (out / UNFINISHED).exists()


def boxes_of(room: rooms.Room) -> list[tuple[float, float, float, float]]:
    return [thing.box for thing in room.things]
