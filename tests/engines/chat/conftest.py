"""A fake server for each test, and no patience."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from penstock.testing.fake_server import FakeServer, serving


@pytest.fixture
def fake() -> FakeServer:
    return FakeServer()


@pytest.fixture
def url(fake: FakeServer) -> Iterator[str]:
    with serving(fake) as address:
        yield address


@pytest.fixture(autouse=True)
def quick_backoff(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penstock.engines.chat.dispatcher.FIRST_BACKOFF_S", 0.01)
