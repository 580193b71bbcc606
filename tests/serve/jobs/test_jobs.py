"""Jobs over a real socket: several ways to send, options, progress, results, an end to everything."""

from __future__ import annotations

import base64
import io
import json
import signal
import subprocess
import sys
import urllib.request
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from penstock.passes.parse import ParseOptions
from penstock.serve.reading.service import Service
from penstock.serve.requests.received_file import ReceivedFile
from penstock.store.ledger import Ledger
from penstock.store.schema import PAGES
from penstock.testing.fake_recipe import fake
from tests.support.made_pdf import pdf

pytest.importorskip("uvicorn", reason="needs penstock-pipeline[serve]")

from prometheus_client.parser import text_string_to_metric_families

from penstock.serve.jobs.jobs import Jobs
from penstock.testing import FAKE
from tests.support.running_service import SAMPLE, Client, Running, await_up, free_port, request
from tests.support.waiting import wait_until

READING = ParseOptions(inputs=(), recipe=FAKE)
DATA = SAMPLE.read_bytes()


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("jobs") / "out"


@pytest.fixture(scope="module")
def client(out: Path) -> Iterator[Client]:
    with Service(out, fake()) as service, Running(service, reading=READING) as client:
        yield client


def form(**parts: bytes | str | list[tuple[str, bytes]]) -> tuple[bytes, dict[str, str]]:
    """A form as curl writes it: fields, and under a name several files."""
    pieces = []
    for name, value in parts.items():
        if isinstance(value, list):
            for file, data in value:
                head = f'Content-Disposition: form-data; name="{name}"; filename="{file}"\r\n'
                pieces.append(head.encode() + b"Content-Type: application/pdf\r\n\r\n" + data)
        else:
            text = value.encode() if isinstance(value, str) else value
            pieces.append(f'Content-Disposition: form-data; name="{name}"\r\n\r\n'.encode() + text)
    body = b"".join(b"--xyz\r\n" + piece + b"\r\n" for piece in pieces) + b"--xyz--\r\n"
    return body, {"Content-Type": "multipart/form-data; boundary=xyz"}


def sent(client: Client, path: str, told: Any, **headers: str) -> tuple[int, Any]:
    return client(path, json.dumps(told).encode(), **{"Content-Type": "application/json"}, **headers)


def over(client: Client, job: dict[str, Any]) -> dict[str, Any]:
    status, told = client(f"/v1/jobs/{job['id']}?wait=60")
    assert (status, told["state"] in ("done", "failed", "cancelled")) == (200, True), told
    return dict(told)


def test_a_form_with_several_files_is_one_job(client: Client) -> None:
    body, headers = form(files=[("하나.pdf", pdf(["one"])), ("two.pdf", pdf(["two", "three"]))])
    status, job = client("/v1/parse", body, **headers)
    assert (status, job["files"]) == (202, ["하나.pdf", "two.pdf"])
    told = over(client, job)
    assert (told["state"], told["pages"], told["done"], told["failed"]) == ("done", 3, 3, 0)
    _, result = client(f"/v1/jobs/{job['id']}/result")
    assert [len(document["pages"]) for document in result["documents"]] == [1, 2]
    _, packed = client(f"/v1/jobs/{job['id']}/result?format=zip")
    names = zipfile.ZipFile(io.BytesIO(packed)).namelist()
    assert [name for name in names if name.endswith("하나.md")]
    assert "ocr_results.jsonl" in names
    assert job["id"] in [one["id"] for one in client("/v1/jobs")[1]]


@pytest.mark.parametrize(
    ("format", "begins"),
    [
        ("markdown", b"<!-- page 1 -->"),
        ("docjson", b"{"),
        ("docling", b"{"),
        ("chunks", b'{"document"'),
        ("jsonl", b"PK"),
        ("html", b"<!"),
        ("searchable-pdf", b"%PDF"),
    ],
)
def test_results_come_in_the_formats_of_the_exports(client: Client, format: str, begins: bytes) -> None:
    with urllib.request.urlopen(
        request(client, f"/v1/parse?name=a.pdf&wait=60&format={format}", DATA), timeout=100
    ) as answer:
        assert answer.status == 200
        assert answer.headers["Content-Disposition"].startswith("attachment")
        assert answer.read().startswith(begins)


def test_bytes_base64_and_data_uris_are_taken(client: Client) -> None:
    content = base64.b64encode(DATA).decode()
    for file in ({"name": "b.pdf", "base64": content}, {"url": f"data:application/pdf;base64,{content}"}):
        status, told = sent(client, "/v1/parse?wait=60", {"files": [file]})
        assert (status, len(told["documents"][0]["pages"])) == (200, 4)


def test_a_job_with_options_has_a_run_of_its_own(client: Client, out: Path) -> None:
    body, headers = form(files=[("a.pdf", DATA)], pages="2-3")
    status, told = client("/v1/parse?wait=60", body, **headers)
    assert status == 200
    assert [page["page_idx"] for page in told["documents"][0]["pages"]] == [1, 2]
    assert told["documents"][0]["name"] == "a.pdf"
    job = client("/v1/jobs")[1][0]
    assert (job["pages"], job["done"], job["documents"]) == (2, 2, [])
    assert (out / "jobs" / job["id"] / "out" / "run.json").is_file()


@pytest.mark.parametrize(
    ("path", "told", "status", "said"),
    [
        ("/v1/parse", {"files": []}, 400, "no file"),
        ("/v1/parse", {"files": [{"name": "a", "base64": "***"}]}, 422, "base64"),
        ("/v1/parse", {"files": [{"name": "a"}]}, 422, "either"),
        ("/v1/parse", {"files": "a"}, 422, "list"),
        ("/v1/parse?format=exe", {"files": []}, 422, "exe"),
        ("/v1/parse", {"files": [{"base64": "QUJD"}], "dpi": 5}, 422, "dpi"),
        ("/v1/parse", {"files": [{"base64": "QUJD"}], "dpi": 300}, 422, "does not take --dpi"),
        ("/v1/parse", {"files": [{"base64": "QUJD"}], "server": "http://x"}, 422, "server"),
        ("/v1/parse", {"files": [{"base64": "QUJD"}], "pages": "9-1"}, 422, "9-1"),
        ("/v1/parse", {"files": [{"url": "http://example.org/a.pdf"}]}, 403, "example.org"),
        ("/v1/parse", [], 422, "object"),
        ("/v1/volumes", {"files": [{"base64": "QUJD"}], "boxes": ["here"]}, 422, "--box here"),
        ("/v1/volumes", {"files": [{"base64": "QUJD"}], "known": ["tall"]}, 422, "--known tall"),
        ("/v1/search", {"question": "a", "nothing": 1}, 422, "nothing"),
        ("/v1/embed", {"texts": ["a"]}, 409, "no vectors"),
    ],
)
def test_wrong_requests_are_sentences(client: Client, path: str, told: Any, status: int, said: str) -> None:
    code, answer = sent(client, path, told)
    assert (code, said in answer["error"]) == (status, True), answer


@pytest.mark.parametrize("body", [b"--xyz\r\nbroken", b"", b"--xyz\r\n\r\nno name\r\n--xyz--", b"\0" * 99])
def test_broken_forms_are_refused(client: Client, out: Path, body: bytes) -> None:
    status, told = client("/v1/parse", body, **{"Content-Type": "multipart/form-data; boundary=xyz"})
    assert (status, bool(told["error"])) == (400, True)
    assert not list((out / "uploads").glob(".incoming*"))


def test_the_same_idempotency_key_is_the_same_job(client: Client) -> None:
    told = {"files": [{"name": "i.pdf", "base64": base64.b64encode(DATA).decode()}]}
    _, first = sent(client, "/v1/parse", told, **{"Idempotency-Key": "k1"})
    _, again = sent(client, "/v1/parse", told, **{"Idempotency-Key": "k1"})
    assert again["id"] == first["id"]
    other = {"files": [{"name": "j.pdf", "base64": "QUJD"}]}
    assert sent(client, "/v1/parse", other, **{"Idempotency-Key": "k1"})[0] == 422


def test_progress_is_told_as_events(client: Client) -> None:
    _, job = client("/v1/parse?name=e.pdf", pdf(["a", "b"]))
    with urllib.request.urlopen(f"{client.url}/v1/jobs/{job['id']}/events", timeout=100) as stream:
        assert stream.headers.get_content_type() == "text/event-stream"
        events = stream.read().decode().strip().split("\n\n")
    assert events[-1].startswith("event: end")
    last = json.loads(events[-1].partition("data: ")[2])
    assert (last["state"], last["done"]) == ("done", 2)


@pytest.mark.slow  # a run of its own loads everything again
def test_photos_are_measured_with_their_boxes(client: Client) -> None:
    photo = np.full((1080, 1440, 3), 200, np.uint8)
    photo[300:900, 300:700] = (60, 90, 120)
    jpeg = cv2.imencode(".jpg", photo)[1].tobytes()
    body, headers = form(
        files=[("one.jpg", jpeg), ("two.jpg", jpeg[:-2] + b"\xff\xd9")],
        boxes="one.jpg=300,300,400,600:chair",
        camera_height="1.5",
        known="chair=90cm high",
        same_room="true",
    )
    status, told = client("/v1/volumes?wait=60", body, **headers)
    assert status == 200, told
    [one, two] = told["photos"]
    assert [thing["label"] for thing in one["objects"]] == ["chair"]
    assert one["objects"][0]["size_m"]["height"] == pytest.approx(0.9, abs=0.01)
    assert one["document"] == "one.jpg"
    assert told["total"]["cbm"] > 0
    job = client("/v1/jobs")[1][0]
    cloud = one["objects"][0]["ply"]
    assert client(f"/v1/jobs/{job['id']}/file/{cloud}")[1].startswith(b"ply")
    assert client(f"/v1/jobs/{job['id']}/file/clouds/{'0' * 16}.ply")[0] == 404
    assert b"chair" in client(f"/v1/jobs/{job['id']}/result?format=report")[1]
    assert two["document"] == "two.jpg"


def test_a_cancelled_job_reads_no_more(tmp_path: Path) -> None:
    with Service(tmp_path, fake(seconds=0.05)) as service, Running(service) as client:
        _, job = client("/v1/parse?name=long.pdf", pdf([""] * 400))
        status, told = client(f"/v1/jobs/{job['id']}/cancel", b"")
        assert (status, told["state"]) == (200, "cancelled")
        assert not list(tmp_path.glob("uploads/*/long.pdf"))
        wait_until(lambda: not service.waiting)
        _, other = client("/v1/parse?name=short.pdf", DATA)
        assert over(client, other)["done"] == 4
    assert len(Ledger(tmp_path, PAGES).entries()) < 200


@pytest.mark.parametrize("options", ["", "&max_pages=999"], ids=["the service's run", "a run of its own"])
def test_pages_of_a_cancelled_job_that_have_not_begun_are_not_read(tmp_path: Path, options: str) -> None:
    plan = fake(seconds=0.2)
    reading = ParseOptions(inputs=(), recipe=plan)
    with Service(tmp_path, plan) as service, Running(service, reading=reading) as client:
        _, job = client(f"/v1/parse?name=long.pdf{options}", pdf([""] * 60))
        wait_until(lambda: client(f"/v1/jobs/{job['id']}")[1]["done"])
        _, told = client(f"/v1/jobs/{job['id']}/cancel", b"")
        _, other = client(f"/v1/parse?name=short.pdf{options}", pdf(["a", "b"]))
        assert over(client, other)["done"] == 2
    out = tmp_path / "jobs" / job["id"] / "out" if options else tmp_path
    read = [entry for entry in Ledger(out, PAGES).entries().values() if entry.document.endswith("long.pdf")]
    assert len(read) <= told["done"] + 4  # two workers are at a page each, and two pages are on their way out
    assert not any(entry.incomplete for entry in read)


def test_a_deleted_job_leaves_nothing_on_the_disk(tmp_path: Path) -> None:
    with Service(tmp_path, fake()) as service, Running(service, reading=READING) as client:
        kept = over(client, client("/v1/parse?name=kept.pdf", DATA)[1])
        gone = over(client, client("/v1/parse?name=gone.pdf", pdf(["one", "two"]))[1])
        own = over(client, client("/v1/parse?name=own.pdf&pages=1", DATA)[1])
        client(f"/v1/jobs/{gone['id']}/result?format=zip")
        for job in (gone, own):
            assert client(f"/v1/jobs/{job['id']}", method="DELETE")[0] == 204
            assert client(f"/v1/jobs/{job['id']}")[0] == 404
        assert client("/v1/document?name=" + gone["documents"][0]["name"])[0] == 404
        wait_until(lambda: service.purge() or len(Ledger(tmp_path, PAGES).entries()) == 4)
        assert client(f"/v1/jobs/{kept['id']}/result?format=md")[1].startswith(b"<!-- page 1")
    assert not [path for path in tmp_path.rglob("*") if path.name in ("gone.pdf", "own.pdf")]
    with Service(tmp_path, fake()) as service, Running(service) as client:
        assert [job["id"] for job in client("/v1/jobs")[1]] == [kept["id"]]
        assert len(client("/v1/documents")[1]) == 1
    assert {entry.document for entry in Ledger(tmp_path, PAGES).entries().values()} == {
        kept["documents"][0]["name"]
    }
    assert not list(tmp_path.glob("uploads/.deleted*"))


def test_jobs_are_forgotten_when_their_time_is_over(tmp_path: Path) -> None:
    now = [1000.0]
    clock: Callable[[], float] = lambda: now[0]  # noqa: E731
    with Service(tmp_path, fake(), now=clock) as service, Jobs(service, keep_s=60.0, clock=clock) as jobs:
        with service.incoming() as path:
            path.write_bytes(DATA)
            record = jobs.create("parse", [ReceivedFile(path, "a.pdf", "00")], {})
        wait_until(lambda: jobs.get(record.id).is_over)  # type: ignore[union-attr]
        jobs.sweep()
        now[0] += 59
        jobs.sweep()
        assert jobs.get(record.id) is not None
        now[0] += 2
        jobs.sweep()
        assert jobs.get(record.id) is None
        assert not list((tmp_path / "jobs").glob("*.json"))


@pytest.mark.slow
def test_killed_with_200_jobs_each_ends_once(tmp_path: Path) -> None:
    """Some are done, some at work, some wait, some have a run of their own, some are cancelled or deleted."""
    port = free_port()
    command = [sys.executable, "-m", "penstock", "serve", str(tmp_path / "out"), "--recipe", FAKE]
    client = Client(f"http://127.0.0.1:{port}")
    first = subprocess.Popen([*command, "--port", str(port)], stderr=subprocess.DEVNULL)
    await_up(client)
    done = [over(client, client(f"/v1/parse?name=d{n}.pdf", pdf([f"d{n}"]))[1]) for n in range(2)]
    own = [client(f"/v1/parse?name=o{n}.pdf&pages=2-", DATA)[1] for n in range(6)]
    # before the others are sent: two at once are soon done
    cancelled = [client(f"/v1/jobs/{job['id']}/cancel", b"")[1] for job in reversed(own[2:])]
    assert cancelled[0]["state"] == "cancelled"
    shared = [client(f"/v1/parse?name={n}.pdf", pdf([str(n)]))[1] for n in range(192)]
    gone = done.pop()
    client(f"/v1/jobs/{gone['id']}", method="DELETE")
    first.send_signal(signal.SIGKILL)
    first.wait()
    second = subprocess.Popen([*command, "--port", str(port)], stderr=subprocess.DEVNULL)
    try:
        await_up(client)
        assert {(over(client, job)["state"], over(client, job)["done"]) for job in own[:2]} == {("done", 3)}
        assert {(over(client, job)["state"], over(client, job)["done"]) for job in shared + done} == {
            ("done", 1)
        }
        for job in cancelled:
            assert client(f"/v1/jobs/{job['id']}")[1]["state"] == job["state"]
        assert client(f"/v1/jobs/{gone['id']}")[0] == 404
        assert len(client("/v1/jobs?limit=1000")[1]) == 199
    finally:
        second.send_signal(signal.SIGINT)
        assert second.wait(60) == 0
    documents = [entry.document for entry in Ledger(tmp_path / "out", PAGES).entries().values()]
    assert len(documents) == len(set(documents)) == 193


def test_metrics_and_engines_tell_how_it_is(client: Client) -> None:
    client("/v1/nothing/at/all")
    client("/v1/jobs/none")
    with urllib.request.urlopen(client.url + "/metrics", timeout=60) as answer:
        assert answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
        told = list(text_string_to_metric_families(answer.read().decode()))
    expected = {
        "penstock_up": "gauge", "penstock_ready": "gauge", "penstock_waiting_pages": "gauge",
        "penstock_queued_jobs": "gauge", "penstock_arriving_bodies": "gauge", "penstock_connections": "gauge",
        "penstock_jobs": "gauge", "penstock_refused_connections": "counter", "penstock_requests": "counter",
        "penstock_request_seconds": "counter", "process_cpu_seconds": "counter",
    }  # fmt: skip
    kinds = {family.name: family.type for family in told}
    assert {name: kinds.get(name) for name in expected} == expected
    values = {(one.name, *one.labels.values()): one.value for family in told for one in family.samples}
    assert values["penstock_up",] == values["penstock_ready",] == 1
    assert values["penstock_requests_total", "GET", "other", "404"] >= 1
    assert values["penstock_requests_total", "GET", "/v1/jobs/{id}", "404"] >= 1
    assert values["penstock_request_seconds_total", "GET", "other"] > 0
    assert {state for name, *labels in values if name == "penstock_jobs" for state in labels} == {
        "running", "done", "failed", "cancelled",
    }  # fmt: skip
    _, row = client("/v1/engines")
    assert (row["recipe"], row["stages"][0]["stage"]) == ("fake", "load")
    assert row["workers"]["load"] >= 1
    assert client("/health")[1]["ready"] is True


def test_the_description_is_complete(client: Client) -> None:
    """Every path that takes a body shows it, every answer has a schema or a content, every error ours."""
    _, told = client("/openapi.json")
    assert {"/v1/parse", "/v1/volumes", "/v1/jobs/{id}/events", "/metrics"} <= set(told["paths"])
    for path, methods in told["paths"].items():
        for method, one in methods.items():
            assert one["description"] or one["summary"], path
            good = [status for status in one["responses"] if status.startswith("2")]
            assert good and all(
                "content" in one["responses"][status] or status == "204" for status in good
            ), path
            assert {"400", "429", "503"} <= set(one["responses"]), (path, method)
    body = told["paths"]["/v1/parse"]["post"]["requestBody"]["content"]
    assert set(body) == {"multipart/form-data", "application/json", "application/octet-stream"}
    assert body["application/json"]["example"]["files"]


@pytest.mark.slow
def test_pages_of_a_job_can_be_looked_at_whoever_reads_them(client: Client) -> None:
    _, shared = client("/v1/parse?name=shared.pdf", pdf(["BT ET", "BT ET"]))
    _, own = client("/v1/parse?name=own.pdf&pages=2", pdf(["BT ET", "BT ET"]))
    assert client(f"/v1/jobs/{own['id']}?wait=60")[1]["state"] == "done"
    assert client(f"/v1/jobs/{shared['id']}?wait=60")[1]["state"] == "done"
    for job, pages in ((shared, [1, 2]), (own, [2])):
        path = f"/v1/jobs/{job['id']}"
        [document] = client(f"{path}/documents")[1]
        assert document["ready"]
        name = document["name"]
        assert [part["page"] for part in client(f"{path}/document?name={name}")[1]["parts"]] == pages
        assert client(f"{path}/page?name={name}&page=2")[1]["page_idx"] == 1
        assert client(f"{path}/picture?name={name}&page=2&side=64")[1].startswith(b"\xff\xd8")
        assert client(f"{path}/page?name=nobody&page=2")[0] == 404
    assert client(f"/v1/jobs/{own['id']}/page?name=own.pdf&page=1")[0] == 404
