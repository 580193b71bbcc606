"""Boxes that someone draws on a photo of a job: measured with the things that are there, as they were."""

from __future__ import annotations

import json
import urllib.parse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

pytest.importorskip("uvicorn", reason="needs penstock-pipeline[serve]")

from penstock.errors import UsageError
from penstock.photo import Photo, PhotoObject
from penstock.photos.user_boxes import GivenBox
from penstock.serve.app import KeyRing
from penstock.serve.guard.keys import new_key
from penstock.serve.guard.upload_deadlines import ArrivalBounds
from penstock.serve.jobs.drawn_boxes import MAX_BOXES, with_drawn
from penstock.serve.reading.service import Service
from penstock.testing.fake_recipe import fake
from tests.support.running_service import Client, Running

JSON = {"Content-Type": "application/json"}
CHAIR = {"box": [500, 120, 660, 460], "label": "chair"}


def _room() -> bytes:
    """A room of flat colours: something dark at the left, something blue at the right."""
    photo = np.full((540, 720, 3), 200, np.uint8)
    photo[150:450, 150:350] = (60, 90, 120)
    photo[120:460, 500:660] = (160, 70, 30)
    return cv2.imencode(".png", photo)[1].tobytes()


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with (
        Service(tmp_path_factory.mktemp("boxes"), fake()) as service,
        Running(service, arrivals=ArrivalBounds(max_question_bytes=1 << 20)) as client,
    ):
        yield client


def _measured(client: Client, more: str = "", **headers: str) -> dict[str, Any]:
    status, job = client(f"/v1/volumes?name=room.png&detector=saliency{more}", _room(), **headers)
    assert status == 202, job
    return _over(client, job["id"], **headers)


def _over(client: Client, id: str, **headers: str) -> dict[str, Any]:
    status, job = client(f"/v1/jobs/{id}?wait=60", None, **headers)
    assert (status, job["state"]) == (200, "done"), job
    return dict(job)


def _things(client: Client, id: str, **headers: str) -> tuple[str, list[dict[str, Any]]]:
    name = client(f"/v1/jobs/{id}/documents", None, **headers)[1][0]["name"]
    status, row = client(f"/v1/jobs/{id}/page?page=1&name={urllib.parse.quote(name)}", None, **headers)
    assert status == 200, row
    return name, row["objects"]


def _draw(client: Client, id: str, name: str, *boxes: Any, **headers: str) -> tuple[int, Any]:
    path = f"/v1/jobs/{id}/boxes?page=1&name={urllib.parse.quote(name)}"
    return client(path, json.dumps({"boxes": boxes}).encode(), **(JSON | headers))


@pytest.mark.slow
def test_a_box_adds_a_thing_and_the_totals_follow(client: Client) -> None:
    id = _measured(client, "&camera_height=1.4")["id"]
    name, before = _things(client, id)
    total = client(f"/v1/jobs/{id}/result")[1]["total"]["cbm"]
    status, job = _draw(client, id, name, CHAIR)
    assert (status, job["id"], job["finished"]) == (202, id, None)
    _over(client, id)
    _, after = _things(client, id)
    assert len(after) == len(before) + 1
    assert {one["label"] for one in before} < {one["label"] for one in after}
    [chair] = [one for one in after if one["label"] == "chair"]
    assert chair["finder"] == "given"
    assert chair["size_m"]["height"] > 0
    assert client(f"/v1/jobs/{id}/result")[1]["total"]["cbm"] > total
    status, job = _draw(client, id, name, {"box": [10, 10, 100, 100], "label": "a=b  lamp"})
    assert status == 202
    _over(client, id)
    labels = [one["label"] for one in _things(client, id)[1]]  # those of before are still boxes, once
    assert (labels.count("chair"), labels.count("a b lamp")) == (1, 1)
    assert len(labels) == len(before) + 2


@pytest.mark.slow
def test_wrong_boxes_and_other_jobs_are_refused(client: Client) -> None:
    id = _measured(client)["id"]
    name, _ = _things(client, id)
    assert _draw(client, id, name, {"box": [9, 9, 9, 30], "label": "x"})[0] == 422
    assert _draw(client, id, name, {"box": [1, 1, 9, 30], "label": ""})[0] == 422
    assert _draw(client, id, name)[0] == 422
    assert _draw(client, id, "other.png", CHAIR)[0] == 404
    assert _draw(client, "0" * 24, name, CHAIR)[0] == 404
    sent = client.send("page.png", _room())
    client.wait(sent["name"])
    assert _draw(client, sent["job"], sent["name"], CHAIR)[0] == 409
    assert _over(client, id)["state"] == "done"  # none of them began anything


def test_a_question_may_not_be_longer_than_memory(client: Client) -> None:
    long = json.dumps({"question": "x", "documents": ["y" * (2 << 20)]}).encode()
    status, told = client("/v1/search", long, **JSON)
    assert (status, "1 MB" in told["error"]) == (413, True)


@pytest.mark.slow
def test_another_key_draws_on_nobodys_photo(tmp_path: Path) -> None:
    path = tmp_path / "keys"
    mine, theirs = ({"Authorization": f"Bearer {new_key(path, name)}"} for name in ("mine", "theirs"))
    with Service(tmp_path / "out", fake()) as service, Running(service, keys=KeyRing.open(path)) as client:
        id = _measured(client, **mine)["id"]
        name, before = _things(client, id, **mine)
        assert _draw(client, id, name, CHAIR, **theirs)[0] == 404
        assert len(_things(client, id, **mine)[1]) == len(before)


def test_what_a_model_found_becomes_boxes_once() -> None:
    found = (PhotoObject(label="sofa", box=(1.0, 2.0, 30.0, 40.0)),)
    photo = Photo(id="room/0", uri="/x/room.png", document="room", objects=found)
    drawn = [GivenBox("", (5.0, 6.0, 7.0, 9.0), "lamp")]
    options = with_drawn({"same_room": True}, photo, drawn)
    assert options == {"same_room": True, "boxes": ["room/0=1,2,29,38:sofa", "room/0=5,6,2,3:lamp"]}
    again = with_drawn(options, photo, [GivenBox("", (1.0, 1.0, 2.0, 2.0), "cup")])
    assert again["boxes"] == [*options["boxes"], "room/0=1,1,1,1:cup"]
    with pytest.raises(UsageError, match="boxes at most"):
        with_drawn(options, photo, drawn * MAX_BOXES)
