"""`penstock volumes` from photo to report, on rooms whose furniture we know."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from benchmarks.lib.scenes import rooms
from click.testing import Result
from typer.testing import CliRunner

from penstock.cli.app import app
from penstock.errors import PlanMismatch
from penstock.exports.box_history import with_boxes
from penstock.passes.photo_words import parse_box
from penstock.photos.ply import read_ply
from penstock.photos.volumes import measure
from penstock.store.ledger import ShardWriter
from penstock.store.out import Out
from penstock.store.schema import PHOTOS
from tests.conftest import REPO
from tests.support.needs import needs_saliency
from tests.support.things import photo


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
@pytest.mark.slow
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


@needs_saliency
@pytest.mark.slow
def test_two_equal_files_count_once(tmp_path: Path) -> None:
    boxes, _ = write_rooms(tmp_path / "in", (0,))
    (tmp_path / "in" / "room0 copy.jpg").write_bytes((tmp_path / "in" / "room0.jpg").read_bytes())
    copied = ["--box", boxes[1].replace("room0.jpg", "room0 copy.jpg")]
    told = json.loads(run(str(tmp_path / "in"), "-o", str(tmp_path / "out"), "--json", *boxes, *copied))
    first, second = told["objects"]
    assert (first["same_as"], second["same_as"]) == (None, 1)
    assert told["moving_cbm"] == pytest.approx(first["moving_cbm"], rel=0.01)  # both are rounded


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
    quiet = invoke(str(tmp_path / "in"), "-o", str(out), *boxes)
    assert quiet.stdout == ""
    assert [line.partition(":")[0] for line in quiet.stderr.splitlines()] == ["penstock", "failed", "failed"]
    rows = [json.loads(line) for line in (out / "objects.jsonl").read_text("utf-8").splitlines()]
    valid = {(row["document"], row.get("label")): row["valid"] for row in rows}
    assert valid == {
        ("room3.jpg", "armchair"): True,
        ("room3.jpg", "sofa"): False,
        ("broken.jpg", None): False,
    }


@needs_saliency
def test_the_one_thing_in_a_drawn_photo_is_found_without_a_box(tmp_path: Path) -> None:
    photo = REPO / "tests" / "fixtures" / "sofa.jpg"
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


@pytest.mark.slow
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
