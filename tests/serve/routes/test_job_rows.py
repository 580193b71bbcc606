"""What the API says of a job: when it ended and why it failed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("uvicorn", reason="needs penstock-pipeline[serve]")

import penstock
from penstock.client.connection import ServiceError
from penstock.passes.parse import ParseOptions
from penstock.serve.app import app_of
from penstock.serve.reading.service import Service
from penstock.testing.fake_recipe import fake
from tests.support.made_pdf import pdf
from tests.support.running_service import Running
from tests.support.waiting import wait_until

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
OPTIONS = pytest.mark.parametrize("options", ["", "&max_pages=9"], ids=["shared run", "own run"])


@OPTIONS
def test_a_job_that_is_done_says_when_it_ended_in_utc(tmp_path: Path, options: str) -> None:
    plan = fake()
    reading = ParseOptions(inputs=(), recipe=plan)
    with Service(tmp_path, plan) as service, Running(service, reading=reading) as client:
        _, begun = client(f"/v1/parse?name=a.pdf{options}", pdf(["a", "b"]))
        assert TIME.fullmatch(begun["created"])
        states: list[dict[str, Any]] = []

        def is_read() -> bool:
            states.append(client(f"/v1/jobs/{begun['id']}")[1])
            return bool(states[-1]["done"] == 2)

        wait_until(is_read, pause_s=0.02)
        done = client(f"/v1/jobs/{begun['id']}?wait=60")[1]
        assert all(bool(one["finished"]) == (one["state"] == "done") for one in [*states, done])
        assert TIME.fullmatch(done["finished"])
        assert begun["created"] <= done["finished"]
        assert client(f"/v1/jobs/{begun['id']}")[1]["finished"] == done["finished"]
        job = penstock.Client(client.url).job(begun["id"])
        assert job.finished is not None
        assert job.finished.isoformat() == done["finished"].replace("Z", "+00:00")


def test_the_end_of_a_job_is_known_after_a_restart(tmp_path: Path) -> None:
    with Service(tmp_path, fake()) as service, Running(service) as client:
        job = client("/v1/jobs/" + client("/v1/parse?name=a.pdf", pdf(["a"]))[1]["id"] + "?wait=60")[1]
    with Running(Service(tmp_path)) as client:
        assert client(f"/v1/jobs/{job['id']}")[1] == job


@OPTIONS
def test_a_failed_job_says_why(tmp_path: Path, options: str) -> None:
    plan = fake(fails=(0, 1))
    reading = ParseOptions(inputs=(), recipe=plan)
    with Service(tmp_path, plan) as service, Running(service, reading=reading) as client:
        _, job = client(f"/v1/parse?name=a.pdf{options}", pdf(["a", "b"]))
        told = client(f"/v1/jobs/{job['id']}?wait=60")[1]
        assert (told["state"], "asked to fail" in told["error"]) == ("failed", True), told
        status, answer = client(f"/v1/jobs/{job['id']}/result")
        assert (status, "asked to fail" in answer["error"]) == (409, True), answer
        with pytest.raises(ServiceError, match="asked to fail"):
            penstock.Client(client.url).parse(("c.pdf", pdf(["c", "d"])))


def test_times_are_described_as_times(tmp_path: Path) -> None:
    fields = app_of(Service(tmp_path)).openapi()["components"]["schemas"]["JobAnswer"]["properties"]
    assert fields["created"]["format"] == "date-time"
    assert fields["finished"]["anyOf"][0]["format"] == "date-time"
