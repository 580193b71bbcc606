"""A real Chromium, started once for each file that looks at pages."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.browser import Browser


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(tmp_path_factory.mktemp("chromium")) as browser:
        yield browser


@pytest.fixture
def browser(chromium: Browser) -> Browser:
    """A screen, English, light, and nothing kept from the test before."""
    chromium.screen(1280, 900)
    chromium.speaks("en-GB")
    chromium.is_dark(False)
    chromium.console.clear()
    return chromium
