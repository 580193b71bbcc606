"""`penstock volumes` from photo to report, on rooms whose furniture we know."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pyarrow.parquet as pq
import pytest
from click.testing import Result
from typer.testing import CliRunner

from penstock.cli.app import app
from penstock.engines.segment.saliency import SaliencySegmenter
from penstock.engines.segment.segmenter import Wanted
from penstock.engines.weights import registry as weights
from penstock.errors import EngineError, PlanMismatch, UsageError
from penstock.exports.box_history import with_boxes
from penstock.exports.inventory import inventory, object_row, photo_name
from penstock.exports.photo_phrases import both, language_of, name_of, notes_of
from penstock.passes.photos import PhotoOptions, parse_box, parse_depth
from penstock.photo import Photo, PhotoObject
from penstock.photos.ply import read_ply
from penstock.photos.user_boxes import is_for
from penstock.photos.volumes import measure
from penstock.recipes.photos import photos
from penstock.stages.reconstruct import Reconstruct
from penstock.store import schema
from penstock.store.ledger import Ledger, ShardWriter
from penstock.store.out import Out
from penstock.store.schema import PHOTOS
from penstock.testing import rooms
from tests.conftest import REPO

needs_saliency = pytest.mark.skipif(
    weights.look(weights.MODELS["u2netp"]).state != "ready", reason="run: penstock models fetch u2netp"
)


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["volumes", *arguments, "--quiet", "--cores", "1"], catch_exceptions=False)


def run(*arguments: str) -> str:
    done = invoke(*arguments)
    assert done.exit_code == 0, done.output
    return done.output


def write_rooms(folder: Path, seeds: tuple[int, ...]) -> tuple[list[str], dict[str, list[rooms.Placed]]]:
    """Photos in `folder`; the --box options and the truth about them."""
    options: list[str] = []
    truth = {}
    folder.mkdir()
    for seed in seeds:
        room = rooms.draw(seed, width=800, height=600)
        name = f"room{seed}.jpg"
        (folder / name).write_bytes(room.jpeg)
        truth[name] = list(room.things)
        for thing in room.things:
            x0, y0, x1, y1 = thing.box
            options += ["--box", f"{name}={x0:.0f},{y0:.0f},{x1 - x0:.0f},{y1 - y0:.0f}:{thing.label}"]
    return options, truth


@needs_saliency
def test_boxes_on_photos_become_measured_things_and_a_report(tmp_path: Path) -> None:
    boxes, truth = write_rooms(tmp_path / "in", (0, 3))
    out = tmp_path / "out"
    told = json.loads(
        run(
            str(tmp_path / "in"),
            "-o",
            str(out),
            "--json",
            "--export",
            "objects,report,splat,turntable",
            *boxes,
        )
    )
    rows = [json.loads(line) for line in (out / "objects.jsonl").read_text("utf-8").splitlines()]
    assert told["objects"] == rows
    assert len(rows) == 2
    for row in rows:
        [thing] = truth[row["document"]]
        assert row["kind"] == thing.label
        assert row["estimate"] == "prior"
        assert row["range_cbm"][0] < row["bbox_cbm"] < row["range_cbm"][1]
        assert row["bbox_cbm"] == pytest.approx(thing.volume, rel=0.6)
        cloud = measure(read_ply((out / row["ply"]).read_bytes()))
        assert cloud.width == pytest.approx(row["size_m"]["width"], rel=0.1)
        assert cloud.height == pytest.approx(row["size_m"]["height"], rel=0.1)
        assert (out / row["mask"]).read_bytes().startswith(b"\x89PNG")
        stem = Path(row["ply"]).stem
        assert (out / "splats" / f"{stem}.splat").stat().st_size == 32 * row["num_gaussians"]
        assert (out / "turntables" / f"{stem}.gif").read_bytes().startswith(b"GIF")
    page = (out / "report.html").read_text("utf-8")
    assert "{{" not in page
    assert page.count("<figure>") == 2
    assert f"{told['moving_cbm']:.{1 if told['moving_cbm'] >= 1 else 2}f} m³" in page
    assert "<script" not in page
    assert page.count('class="thumb"') == 2
    assert "Moving inventory" in page
    assert "이사 물품 견적" in page


@needs_saliency
def test_a_new_box_measures_its_photo_again_and_no_other(tmp_path: Path) -> None:
    boxes, _ = write_rooms(tmp_path / "in", (0, 3))
    call = [str(tmp_path / "in"), "-o", str(tmp_path / "out"), "--json"]
    first = {row["document"]: row for row in json.loads(run(*call, *boxes))["objects"]}
    boxes[3] = boxes[3].rpartition(":")[0] + ":desk"
    second = json.loads(run(*call, *boxes))
    assert (second["photos"], second["skipped"]) == (1, 1)
    then = {row["document"]: row for row in second["objects"]}
    assert then["room0.jpg"] == first["room0.jpg"]
    assert (first["room3.jpg"]["label"], then["room3.jpg"]["label"]) == ("armchair", "desk")
    again = json.loads(run(*call, *boxes))
    assert (again["photos"], again["skipped"]) == (0, 2)
    assert again["objects"] == second["objects"]
    with pytest.raises(PlanMismatch, match="camera_height"):
        run(*call, "--camera-height", "1.2", *boxes)


def test_a_box_that_was_told_before_a_kill_is_measured_after_it(tmp_path: Path) -> None:
    writer, box = ShardWriter(tmp_path, PHOTOS), parse_box("p=1,2,30,40:chair")
    writer.add(photo())
    writer.commit()
    assert list(with_boxes(Out(tmp_path), [photo()], [])) == [photo()]
    for _ in range(2):  # the first was killed before its row came
        [again] = with_boxes(Out(tmp_path), [photo()], [box])
        assert (again.attempt, [thing.label for thing in again.objects]) == (2, ["chair"])
    writer.add(replace(again, attempt=3))  # it had failed, and was tried again
    writer.commit()
    assert [item.attempt for item in with_boxes(Out(tmp_path), [photo()], [box])] == [2]
    assert [item.attempt for item in with_boxes(Out(tmp_path), [photo()], [])] == [4]


@needs_saliency
def test_a_broken_photo_and_a_box_outside_cost_only_themselves(tmp_path: Path) -> None:
    boxes, _ = write_rooms(tmp_path / "in", (3,))
    (tmp_path / "in" / "broken.jpg").write_bytes(b"\xff\xd8\xff\xe0 not a photo")
    out = tmp_path / "out"
    boxes += ["--box", "room3.jpg=9000,10,50,50:sofa", "--box", "rom3.jpg=10,10,50,50:sofa"]
    said = invoke(str(tmp_path / "in"), "-o", str(out), "--json", *boxes)
    assert said.exit_code == 1
    assert "no photo is called rom3.jpg" in said.stderr
    told = json.loads(said.stdout)
    assert (told["photos"], told["failed"], told["failed_objects"]) == (1, 1, 1)
    rows = [json.loads(line) for line in (out / "objects.jsonl").read_text("utf-8").splitlines()]
    valid = {(row["document"], row.get("label")): row["valid"] for row in rows}
    assert valid == {
        ("room3.jpg", "armchair"): True,
        ("room3.jpg", "sofa"): False,
        ("broken.jpg", None): False,
    }


@needs_saliency
def test_the_one_thing_in_a_drawn_photo_is_found_without_a_box(tmp_path: Path) -> None:
    photo = REPO / "tests" / "fixtures" / "run_0_1" / "in" / "sofa.jpg"
    told = json.loads(run(str(photo), "-o", str(tmp_path / "out"), "--json", "--labels", "sofa"))
    [row] = told["objects"]
    assert (row["label"], row["finder"], row["estimate"]) == ("sofa", "saliency", "prior")


@needs_saliency
def test_the_one_thing_in_a_photo_is_found_without_a_box(shared_data: Path, tmp_path: Path) -> None:
    photo = shared_data / "rooms" / "pexels-7193656.jpg"  # a stool with a lamp on it
    told = json.loads(run(str(photo), "-o", str(tmp_path / "out"), "--json", "--labels", "stool"))
    [row] = told["objects"]
    assert (row["label"], row["finder"], row["estimate"]) == ("stool", "saliency", "prior")
    assert 0.25 < row["size_m"]["height"] < 1.0


@needs_saliency
def test_a_box_that_others_cover_is_told_and_not_forgotten(tmp_path: Path) -> None:
    boxes, truth = write_rooms(tmp_path / "in", (3,))
    again = boxes[1].rpartition(":")[0] + ":desk"
    call = (str(tmp_path / "in"), "-o", str(tmp_path / "out"), *boxes, "--box", again)
    first = invoke(*call)
    assert first.exit_code == 1
    assert "failed: room3.jpg, desk: The box of desk has nothing of its own" in first.stderr
    second = invoke(*call, "--json")  # nothing is done again, and it is still told
    told = json.loads(second.stdout)
    assert second.exit_code == 1 and told["skipped"] == 1
    assert [one["photo"] for one in told["failures"]] == ["room3.jpg, desk"]
    assert [row["label"] for row in told["objects"] if row["valid"]] == [truth["room3.jpg"][0].label]


@needs_saliency
@pytest.mark.parametrize("shade", [0, 128, 255])
def test_nothing_is_found_where_nothing_is(shade: int) -> None:
    finder = SaliencySegmenter(Wanted(()))
    assert finder.find([np.full((300, 400, 3), shade, np.uint8)]) == [[]]
    finder.close()


@needs_saliency
def test_what_is_less_sure_than_asked_for_is_dropped_on_the_cpu_too() -> None:
    room = cv2.imdecode(np.frombuffer(rooms.draw(3, width=800, height=600).jpeg, np.uint8), cv2.IMREAD_COLOR)
    assert room is not None
    pixels = np.asarray(room[:, :, ::-1], np.uint8)
    usual, strict = SaliencySegmenter(Wanted(())), SaliencySegmenter(Wanted((), min_score=1.0))
    assert usual.find([pixels])[0] and not strict.find([pixels])[0]
    usual.close()
    strict.close()


def test_a_photo_is_called_by_its_file_and_a_page_by_its_number() -> None:
    item = Photo(id="a", uri="a.jpg", document="a.jpg", media="image")
    assert photo_name(item) == "a.jpg"
    assert photo_name(replace(item, document="a.pdf", media="pdf")) == "a.pdf page 1"
    assert photo_name(replace(item, document="a.tif", part=2)) == "a.tif page 3"
    assert photo_name(replace(item, document="rooms", media="parquet")) == "rooms row 1"


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


def test_the_report_names_things_in_both_languages() -> None:
    assert name_of(thing(label="소파", kind="sofa")) == ("sofa", "소파")
    assert name_of(thing(label="couch", kind="sofa")) == ("couch", "소파")
    assert name_of(thing(label="가야금", kind="object")) == ("가야금", "가야금")
    assert language_of([thing(label="소파")]) == "ko"
    assert language_of([thing(label="sofa")]) == "en"
    noted = thing(cut=("left", "top"), note="Turned boxes differ: check its size.", movable=False)
    assert [korean for _, korean in notes_of(noted, None, 3)] == [
        "3번과 비슷합니다. 같은 물품입니까?", "옮기지 않습니다.", "사진의 왼쪽, 위쪽에서 잘렸습니다.",
        "비스듬히 놓여 확인이 필요합니다.",
    ]  # fmt: skip
    assert both(("<b>", "<b>")) == "&lt;b&gt;"


def thing(index: int = 0, **changes: object) -> PhotoObject:
    made = PhotoObject(
        label="소파", kind="sofa", index=index, box=(1, 2, 30, 40), mask=b"mask", mask_path="masks/a.png",
        cloud=b"cloud", cloud_path="clouds/b.ply", num_gaussians=7, cut=("left",), look=(0.5, 0.5),
        estimate="prior", size=(2.0, 0.9, 0.8), bbox_cbm=1.44, low_cbm=1.0, high_cbm=2.0, moving_cbm=1.4,
        distance=2.5, note="n",
    )  # fmt: skip
    return replace(made, **changes)  # type: ignore[arg-type]


def photo(name: str = "p", **changes: object) -> Photo:
    return replace(Photo(id=name, uri=f"{name}.jpg", document=f"{name}.jpg"), **changes)  # type: ignore[arg-type]


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


def test_the_same_thing_in_two_photos_of_a_room_is_counted_once_when_asked() -> None:
    pages = [photo("a", objects=(thing(),)), photo("b", objects=(thing(),))]
    two = inventory(pages, same_room=False)
    assert two.boxes.cbm == pytest.approx(2.88)
    assert [line.looks_like for line in two.lines] == [None, 1]  # told, not silently counted twice
    one = inventory(pages, same_room=True)
    assert one.boxes.cbm == pytest.approx(1.44)
    assert [object_row(line)["same_as"] for line in one.lines] == [None, 1]


def test_what_stays_is_not_moved() -> None:
    found = inventory([photo(objects=(thing(movable=False), thing(1)))], same_room=False)
    assert found.moving.cbm == pytest.approx(1.4)
    assert found.boxes.cbm == pytest.approx(2.88)
