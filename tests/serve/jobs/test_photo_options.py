"""What comes beside photos, and the options of `penstock volumes` that reach the service."""

from __future__ import annotations

import base64
import inspect
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

pytest.importorskip("uvicorn", reason="needs penstock-pipeline[serve]")

import penstock
from penstock.cli.volumes import volumes
from penstock.errors import UsageError
from penstock.passes.parse import ParseOptions
from penstock.passes.photos import PhotoOptions
from penstock.serve.jobs.photo_attachments import FIELDS, photos_of
from penstock.serve.jobs.photo_options import photo_options
from penstock.serve.reading.service import Service
from penstock.serve.requests.options import VolumesRequest
from penstock.testing import FAKE
from penstock.testing.fake_recipe import fake
from tests.serve.jobs.test_jobs import form, over, sent
from tests.support.running_service import Client, Running

SIZES = "name,width,depth,height,spread,synonyms\nchair,1.20,0.70,1.80,0.01,왕좌;throne\n"
OPERATORS = {
    "photos", "out", "model", "sam3d_python", "sam3d_config", "moge", "gpus", "cores", "executor", "config",
    "log", "log_level", "max_pixels", "page_timeout",
}  # fmt: skip
OF_THE_COMMAND = {"export", "retry_failed", "fresh", "as_json", "quiet"}  # results are asked for by format
OTHER_NAMES = {"box": "boxes", "depth": "depths"}


def photo() -> bytes:
    picture = np.full((540, 720, 3), 200, np.uint8)
    picture[150:450, 150:350] = (60, 90, 120)
    return cv2.imencode(".jpg", picture)[1].tobytes()


def depth(metres: float) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, np.full((54, 72), metres, np.float32))
    return buffer.getvalue()


def npy(kind: str, shape: str) -> bytes:
    """The head of an array as numpy.lib.format describes it, with nothing behind it."""
    head = f"{{'descr': {kind}, 'fortran_order': False, 'shape': {shape}}}"
    return b"\x93NUMPY\x01\x00\x76\x00" + head.ljust(117).encode() + b"\n"


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("photos") / "out"


@pytest.fixture(scope="module")
def client(out: Path) -> Iterator[Client]:
    reading = ParseOptions(inputs=(), recipe=FAKE)
    with Service(out, fake()) as service, Running(service, reading=reading) as client:
        yield client


def test_every_option_of_the_command_reaches_the_service_or_is_the_operators() -> None:
    asked = set(inspect.signature(volumes).parameters) - OPERATORS - OF_THE_COMMAND
    wishes = {*VolumesRequest.model_fields, *FIELDS} - {"callback"}
    assert {OTHER_NAMES.get(name, name) for name in asked} == wishes


@pytest.mark.parametrize(
    ("photos", "depths", "found"),
    [
        (["a.jpg"], ["anything.npy"], [0]),
        (["a.jpg", "b.jpg"], ["b.png"], [1]),
        (["a.jpg", "b.jpg"], ["b.npy", "a.npy"], [1, 0]),
        (["a.jpg", "b.jpg"], [], []),
    ],
)
def test_a_depth_map_is_of_the_photo_with_its_name(
    photos: list[str], depths: list[str], found: list[int]
) -> None:
    assert photos_of(photos, depths) == found


@pytest.mark.parametrize(
    ("photos", "depths"),
    [(["a.jpg", "b.jpg"], ["c.npy"]), (["a.jpg", "a.png"], ["a.npy"]), (["a.jpg"], ["a.npy", "a.png"])],
)
def test_a_depth_map_of_no_photo_or_of_two_is_refused(photos: list[str], depths: list[str]) -> None:
    with pytest.raises(UsageError, match="is of"):
        photos_of(photos, depths)


@pytest.mark.parametrize(
    ("parts", "told"),
    [
        ({"depths": [("a.npy", b"text")]}, "neither .npy"),
        ({"depths": [("a.npy", depth(2)), ("b.npy", depth(2))]}, "'b.npy' is of no photo"),
        ({"depths": "/etc/passwd"}, "depths: Extra inputs are not permitted"),
        ({"furniture": "/etc/passwd"}, "furniture: Extra inputs are not permitted"),
        ({"furniture": [("a.csv", b"name,width\nsofa,2\n")]}, "other columns"),
        ({"furniture": [("a.csv", b"name,width,depth,height\nsofa,2,-1,1\n")]}, "In line 2"),
        ({"furniture": [("a.csv", SIZES.encode()), ("b.csv", SIZES.encode())]}, "more than one table"),
        ({"furniture": [("a.sqlite", b"SQLite format 3\0" + b"\xff" * 100)]}, "is no CSV"),
        ({"model": "/weights"}, "model: Extra inputs are not permitted"),
        ({"engine": "sam3d"}, "has no SAM-3D"),
        ({"mesh": "true"}, "is an option of SAM-3D"),
    ],
)
def test_what_does_not_fit_is_refused_before_a_job_is_made(
    client: Client, out: Path, parts: dict[str, Any], told: str
) -> None:
    body, headers = form(files=[("a.jpg", photo())], **parts)
    status, answer = client("/v1/volumes", body, **headers)
    assert (status, told in answer["error"]) == (422, True), answer
    assert client("/v1/jobs")[1] == []
    assert not list(out.glob("jobs/*")) and not list(out.glob("uploads/.incoming-*"))


def test_documents_take_nothing_beside(client: Client) -> None:
    body, headers = form(files=[("a.pdf", b"%PDF-")], depths=[("a.npy", depth(2))])
    assert client("/v1/parse", body, **headers)[0] == 422


def test_what_the_operator_chose_is_what_a_job_begins_with() -> None:
    base = PhotoOptions(
        photos=(), settings={"engine": "sam3d", "labels": ("sofa",)}, sam3d={"python": "/opt/python"}
    )
    usual = photo_options(base, {"mesh": True, "camera_height": 1.5})
    assert usual.settings == {"engine": "sam3d", "labels": ("sofa",), "camera_height": 1.5}
    assert usual.sam3d == {"python": "/opt/python", "with_mesh": True}
    other = photo_options(base, {"engine": "silhouette", "labels": ["bed"]})
    assert (other.settings, other.sam3d) == ({"engine": "silhouette", "labels": ("bed",)}, {})
    with_depth = PhotoOptions(photos=(), sam3d={"python": "/opt/python", "config": "/c.yaml", "moge": "/m"})
    assert photo_options(with_depth, {}).sam3d == {"python": "/opt/python", "moge": "/m"}
    assert photo_options(with_depth, {"engine": "sam3d"}).sam3d == with_depth.sam3d


@pytest.mark.slow  # a run of its own loads everything again
def test_photos_are_measured_by_their_depth_and_by_a_table_that_was_sent(client: Client, out: Path) -> None:
    png = cv2.imencode(".png", np.full((54, 72), 2500, np.uint16))[1].tobytes()
    asked = penstock.Client(client.url)
    told = asked.volumes(
        [("one.jpg", photo()), ("two.jpg", photo()), ("three.jpg", photo())],
        boxes="150,150,200,300:throne",
        depths=[("two.npy", depth(2.5)), ("three.png", png)],
        furniture=("sizes.csv", SIZES.encode()),
    )
    by_prior, by_npy, by_png = (photo.objects[0] for photo in told.photos)
    assert by_prior.size is not None
    assert by_prior.size[2] == pytest.approx(1.8, rel=0.1)  # no chair of the built-in table's
    assert by_npy.size == by_png.size != by_prior.size
    [run] = [json.loads(path.read_text()) for path in out.glob("jobs/*/out/run.json")]
    [plan] = [stage for stage in run["plan"] if stage["stage"] == "reconstruct"]
    assert len(plan["depths"]) == 2
    asked.delete(asked.jobs()[0].id)
    assert not list(out.glob("jobs/*"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.npy", npy("'<f8'", "(1000000, 1000000)")),
        ("a.npy", npy("'|O'", "(2, 2)") + b"cos\nsystem\n"),
        ("a.png", cv2.imencode(".png", np.zeros((9, 9, 3), np.uint8))[1].tobytes()),
        ("a.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + b"\x7f\xff\xff\xff" * 2 + b"\x10\0\0\0\0" + bytes(40)),
    ],
    ids=["huge", "pickled", "eight bits", "endless"],
)
def test_a_hostile_depth_map_fails_its_own_job(client: Client, name: str, data: bytes) -> None:
    body, headers = form(files=[("a.jpg", photo())], depths=[(name, data)])
    status, job = client("/v1/volumes", body, **headers)
    assert status == 202, job
    told = over(client, job)
    assert (told["state"], "depth map a." in told["error"]) == ("failed", True), told
    assert client(f"/v1/jobs/{job['id']}", method="DELETE")[0] == 204


def test_json_brings_depth_maps_too(client: Client) -> None:
    jpeg = base64.b64encode(b"\xff\xd8\xff\xe0").decode()
    asked = {"files": [{"name": "a.jpg", "base64": jpeg}], "depths": [{"name": "b.npy", "base64": "QUJD"}]}
    status, told = sent(client, "/v1/volumes", asked)
    assert (status, "neither .npy" in told["error"]) == (422, True)
    status, told = sent(client, "/v1/volumes", {**asked, "depths": "/etc/passwd"})
    assert (status, "depths: a list of objects" in told["error"]) == (422, True)
