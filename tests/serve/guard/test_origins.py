"""Web pages of other origins: none may use the service but those that the operator names."""

from __future__ import annotations

import urllib.error
import urllib.request
from collections.abc import Iterator
from email.message import Message
from pathlib import Path

import pytest

pytest.importorskip("uvicorn", reason="needs penstock-pipeline[serve]")

from penstock.errors import UsageError
from penstock.serve.guard.allowed_origins import AllowedOrigins
from penstock.serve.guard.keys import KeyRing, new_key
from penstock.serve.reading.service import Service
from tests.support.running_service import Client, Running

ORIGIN = "https://app.example.org"
PREFLIGHT = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization"}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    folder = tmp_path_factory.mktemp("origins")
    (folder / "key").write_text(new_key(folder / "keys.json", "ann"))
    keys = KeyRing.open(folder / "keys.json")
    with Running(Service(folder), keys=keys, origins=[f"{ORIGIN}:443", "http://localhost:3000"]) as client:
        yield client


def asked(client: Client, path: str, method: str, **headers: str) -> tuple[int, Message]:
    request = urllib.request.Request(client.url + path, headers=headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, answer.headers
    except urllib.error.HTTPError as exc:
        with exc:
            return exc.code, exc.headers


def test_a_preflight_of_an_allowed_origin_is_answered_without_a_key(client: Client) -> None:
    status, headers = asked(client, "/v1/parse", "OPTIONS", Origin=ORIGIN, **PREFLIGHT)
    assert (status, headers["Access-Control-Allow-Origin"]) == (204, ORIGIN)
    assert "POST" in headers["Access-Control-Allow-Methods"]
    assert {"authorization", "idempotency-key"} <= set(
        headers["Access-Control-Allow-Headers"].lower().split(", ")
    )
    assert "Access-Control-Allow-Credentials" not in headers


@pytest.mark.parametrize("path", ["/health/live", "/v1/jobs", "/nowhere"])
def test_answers_and_errors_can_be_read_by_an_allowed_origin(client: Client, path: str) -> None:
    status, headers = asked(client, path, "GET", Origin=ORIGIN)
    assert status in (200, 401)
    assert (headers["Access-Control-Allow-Origin"], headers["Vary"]) == (ORIGIN, "Origin")


@pytest.mark.parametrize(
    "origin",
    [
        "http://app.example.org", f"{ORIGIN}:8443", f"{ORIGIN}.evil.org", "https://evil.org", "null",
        "http://localhost:3001", "http://localhost",
    ],
)  # fmt: skip
@pytest.mark.parametrize("method", ["GET", "OPTIONS"])
def test_other_origins_are_refused(client: Client, origin: str, method: str) -> None:
    more = PREFLIGHT if method == "OPTIONS" else {}
    status, headers = asked(client, "/health/live", method, Origin=origin, **more)
    assert (status, "Access-Control-Allow-Origin" in headers) == (403, False)


def test_no_origin_is_allowed_by_default(tmp_path: Path) -> None:
    with Running(Service(tmp_path)) as client:
        assert asked(client, "/health/live", "GET", Origin=ORIGIN)[0] == 403
        assert "Vary" not in asked(client, "/health/live", "GET")[1]


@pytest.mark.parametrize(
    "text",
    ["*", "null", "app.example.org", "https://*.example.org", "https://a.org/path", "https://a.org/",
     "ftp://a.org", "https://u:p@a.org", "https://a.org:x", ""],
)  # fmt: skip
def test_only_exact_origins_can_be_allowed(text: str) -> None:
    with pytest.raises(UsageError, match="--allow-origin"):
        AllowedOrigins([text])
