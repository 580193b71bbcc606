"""Callbacks: signed, to allowed hosts only, again with growing waits, and owed after a restart.

The signature is checked by the words of the Standard Webhooks specification, written again here, and by an
example of it that was made with openssl.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import urlsplit

import pytest

pytest.importorskip("uvicorn", reason="needs penstock-pipeline[serve]")

from penstock.cli.running.serve import callback_settings
from penstock.errors import UsageError
from penstock.serve.errors import HttpRefusal
from penstock.serve.guard.outgoing import AllowedHosts
from penstock.serve.jobs.callbacks import WAITS_S, Callbacks, CallbackSettings, read_secret, signature
from penstock.serve.jobs.jobs import Jobs
from penstock.serve.reading.service import Service
from penstock.serve.requests.received_file import ReceivedFile
from penstock.serve.routes.jobs import job_row
from penstock.testing.fake_recipe import fake
from tests.support.local_server import LocalServer
from tests.support.made_pdf import pdf
from tests.support.running_service import Running
from tests.support.waiting import wait_until

SECRET = b"sixteen bytes or more"
HERE = CallbackSettings(AllowedHosts(("127.0.0.1",), inside=True), SECRET)


class Receiver(BaseHTTPRequestHandler):
    """Keeps what it is told, and answers with the next of `answers`, 200 when there is none."""

    told: ClassVar[list[tuple[dict[str, str], bytes]]] = []
    answers: ClassVar[list[int]] = []

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.told.append(({name.lower(): value for name, value in self.headers.items()}, body))
        status = self.answers.pop(0) if self.answers else 200
        self.send_response(status)
        self.send_header("Location", "/elsewhere")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Says nothing."""


@pytest.fixture
def url() -> Iterator[str]:
    Receiver.told.clear()
    Receiver.answers.clear()
    with LocalServer(Receiver) as server:
        yield f"{server.url}/hook?a=1"


class Clock:
    now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


class Desk:
    """Jobs of a service that reads nothing, so that a test says when one is over."""

    def __init__(self, out: Path, settings: CallbackSettings = HERE) -> None:
        self.clock = Clock()
        self.service = Service(out)
        self.jobs = Jobs(self.service, clock=self.clock)
        self.callbacks = Callbacks(self.jobs, settings, job_row, self.clock)

    def job(self, callback: str) -> str:
        with self.service.incoming() as path:
            path.write_bytes(b"%PDF-")
            files = [ReceivedFile(path, "a.pdf", "0")]
            return self.jobs.create("parse", files, {}, callback=callback).id

    def state(self, id: str) -> tuple[str, int]:
        state = self.jobs.get(id)
        assert state is not None
        return state.record.callback_state, state.record.callback_tries


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = Desk(tmp_path)
    with made.jobs:
        yield made


def test_an_address_is_told_once_of_a_job_that_is_over(desk: Desk, url: str) -> None:
    id = desk.job(url)
    assert desk.callbacks.deliver_due() == 0
    assert Receiver.told == []
    desk.jobs.cancel(id)
    assert desk.callbacks.deliver_due() == 1
    assert desk.callbacks.deliver_due() == 0
    [(headers, body)] = Receiver.told
    told = json.loads(body)
    assert (told["type"], told["data"]["id"], told["data"]["state"]) == ("job.ended", id, "cancelled")
    assert headers["webhook-id"] == id
    signed = f"{id}.{headers['webhook-timestamp']}.".encode() + body
    expected = base64.b64encode(hmac.digest(SECRET, signed, hashlib.sha256)).decode()
    assert headers["webhook-signature"] == f"v1,{expected}"
    assert headers["webhook-timestamp"] == "1800000000"
    assert desk.state(id) == ("delivered", 1)


def test_a_signature_is_what_openssl_makes() -> None:
    """printf 'msg_1.1700000000.{}' | openssl dgst -sha256 -hmac 'sixteen bytes or more' -binary | base64"""
    assert (
        signature(SECRET, "msg_1", 1_700_000_000, b"{}") == "v1,/I3857sgk0dt8SfgYvjc9gznFc9LOCFeHjaXRlhC0dc="
    )


def test_waits_grow_and_end(desk: Desk, url: str) -> None:
    id = desk.job(url)
    desk.jobs.cancel(id)
    Receiver.answers[:] = [500, 302, 404] * 4
    for wait in WAITS_S:
        desk.callbacks.deliver_due()
        tried = len(Receiver.told)
        desk.clock.now += wait - 1
        desk.callbacks.deliver_due()
        assert len(Receiver.told) == tried
        assert desk.state(id) == ("waiting", tried)
        desk.clock.now += 1
    desk.callbacks.deliver_due()
    assert desk.state(id) == ("failed", len(WAITS_S) + 1)
    desk.clock.now += 10**6
    desk.callbacks.deliver_due()
    assert len(Receiver.told) == len(WAITS_S) + 1
    assert list(WAITS_S) == sorted(WAITS_S)


def test_a_clock_that_is_set_back_delays_no_callback(desk: Desk, url: str) -> None:
    id = desk.job(url)
    desk.jobs.cancel(id)
    Receiver.answers[:] = [500, 200]
    desk.callbacks.deliver_due()
    desk.clock.now -= 400 * 24 * 3600
    desk.callbacks.deliver_due()
    assert desk.state(id) == ("delivered", 2)


def test_one_that_wants_no_more_is_told_no_more(desk: Desk, url: str) -> None:
    id = desk.job(url)
    desk.jobs.cancel(id)
    Receiver.answers[:] = [410]
    desk.callbacks.deliver_due()
    assert desk.state(id) == ("failed", 1)


def test_what_is_owed_is_told_after_a_restart(tmp_path: Path, url: str) -> None:
    first = Desk(tmp_path)
    with first.jobs:
        id, gone = first.job(url), first.job(url)
        first.jobs.cancel(id)
        first.jobs.delete(gone)
        Receiver.answers[:] = [503]
        first.callbacks.deliver_due()
    second = Desk(tmp_path)
    with second.jobs:
        assert second.callbacks.deliver_due() == 0
        second.clock.now += WAITS_S[0]
        assert second.callbacks.deliver_due() == 1
        assert second.state(id) == ("delivered", 2)
    assert [headers["webhook-id"] for headers, _ in Receiver.told] == [id, id]


def test_an_address_of_the_inside_is_never_connected_to(tmp_path: Path, url: str) -> None:
    """The name is allowed, and means this machine when it is asked: the guard is at the connection."""

    async def inside(host: str, port: int) -> list[str]:
        return ["127.0.0.1"]

    desk = Desk(tmp_path, CallbackSettings(AllowedHosts(("hooks.example",), inside), SECRET))
    with desk.jobs:
        id = desk.job("http://hooks.example/hook")
        desk.jobs.cancel(id)
        assert desk.callbacks.deliver_due() == 0
        assert desk.state(id) == ("waiting", 1)
    assert Receiver.told == []


@pytest.mark.parametrize(
    ("address", "status"),
    [
        ("https://other.example/hook", 403),
        ("https://hooks.example.other.example/hook", 403),
        ("http://hooks.example:22/hook", 403),
        ("http://169.254.169.254/latest", 403),
        ("file:///etc/passwd", 422),
        ("https://user:pass@hooks.example/hook", 422),
        ("", 422),
    ],
)
def test_an_address_that_nobody_allowed_is_refused(address: str, status: int) -> None:
    settings = CallbackSettings(AllowedHosts(("hooks.example", "169.254.169.254")), SECRET)
    with pytest.raises(HttpRefusal) as refused:
        settings.check(address)
    assert refused.value.status == status
    settings.check("https://hooks.example/hook")


@pytest.mark.parametrize(
    ("allowed", "address", "is_allowed"),
    [
        (["hooks.example:8443"], "https://hooks.example:8443/hook", True),
        (["hooks.example:8443"], "https://hooks.example/hook", False),
        (["hooks.example", "hooks.example:8443"], "https://hooks.example/hook", True),
        (["*.example:9000"], "http://a.example:9000/", True),
        (["10.0.0.5:9000"], "http://10.0.0.5:9000/hook", True),
        (["10.0.0.5:9000"], "http://10.0.0.5/hook", False),
        (["10.0.0.5"], "http://10.0.0.5/hook", True),
        (["10.0.0.5"], "http://10.0.0.6/hook", False),
        (["10.1.0.0/16"], "https://10.1.2.3/hook", True),
        (["10.1.0.0/16"], "https://10.2.2.3/hook", False),
        (["127.0.0.1"], "http://127.1/hook", False),
        (["[fd00::1]:9000"], "http://[fd00::1]:9000/hook", True),
        (["fd00::/8"], "http://[fd00::1]/hook", True),
        (["hooks.example"], "http://93.184.216.34/hook", False),
    ],
)
def test_targets_are_allowed_exactly(allowed: list[str], address: str, is_allowed: bool) -> None:
    settings = CallbackSettings.of(allowed, SECRET)
    if is_allowed:
        settings.check(address)
        return
    with pytest.raises(HttpRefusal):
        settings.check(address)


@pytest.mark.parametrize(
    "text", ["10.0.0.1/8", "a.example:http", "a.example:0", "https://a.example", "127.1"]
)
def test_what_is_no_target_is_refused_at_the_start(text: str) -> None:
    with pytest.raises(UsageError, match="--allow-callback"):
        CallbackSettings.of([text], SECRET)


@pytest.mark.parametrize("network", ["127.0.0.1", "127.0.0.0/8", None])
def test_a_name_leads_into_a_private_network_that_the_operator_allows(
    tmp_path: Path, url: str, network: str | None
) -> None:
    async def inside(host: str, port: int) -> list[str]:
        return ["127.0.0.1"]

    port = urlsplit(url).port
    settings = CallbackSettings.of([f"hooks.example:{port}", *([network] if network else [])], SECRET)
    settings = replace(settings, hosts=replace(settings.hosts, resolve=inside))
    desk = Desk(tmp_path, settings)
    with desk.jobs:
        id = desk.job(f"http://hooks.example:{port}/hook")
        desk.jobs.cancel(id)
        assert desk.callbacks.deliver_due() == bool(network)
        assert desk.state(id)[0] == ("delivered" if network else "waiting")


def test_a_private_address_and_port_that_the_operator_allows_get_callbacks(tmp_path: Path, url: str) -> None:
    desk = Desk(tmp_path, CallbackSettings.of([urlsplit(url).netloc], SECRET))
    with desk.jobs:
        desk.jobs.cancel(desk.job(url))
        assert desk.callbacks.deliver_due() == 1
    assert len(Receiver.told) == 1


def test_a_secret_is_read_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_text("sixteen bytes or more\n")
    assert read_secret(file) == SECRET
    file.write_text("whsec_" + base64.b64encode(SECRET).decode())
    assert read_secret(file) == SECRET
    for wrong in ("short", "whsec_???"):
        file.write_text(wrong)
        with pytest.raises(UsageError, match="secret"):
            read_secret(file)
    with pytest.raises(UsageError, match="holds no secret"):
        read_secret(tmp_path / "none")
    assert "sixteen" not in repr(HERE)


def test_the_service_tells_of_a_job_it_read(tmp_path: Path, url: str) -> None:
    with Service(tmp_path, fake()) as service, Running(service, callbacks=HERE) as client:

        def asked(address: str) -> tuple[int, Any]:
            body = {"files": [{"name": "a.pdf", "base64": base64.b64encode(pdf(["a"])).decode()}]}
            told = json.dumps({**body, "callback": address}).encode()
            return client("/v1/parse", told, **{"Content-Type": "application/json"})

        assert asked("https://example.org/hook")[0] == 403
        status, job = asked(url)
        assert (status, job["callback"]) == (202, "waiting")
        wait_until(lambda: Receiver.told)
        wait_until(lambda: client(f"/v1/jobs/{job['id']}")[1]["callback"] == "delivered")
    told = json.loads(Receiver.told[0][1])["data"]
    assert (told["id"], told["state"], told["done"]) == (job["id"], "done", 1)


def test_hosts_without_a_secret_are_refused_before_anything_listens(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--callback-secret"):
        callback_settings(["hooks.example"], None)
    assert callback_settings([], None) == CallbackSettings()
