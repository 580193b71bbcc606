"""Tests of how processes start and end really start them."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def each_is_started(really_started: None) -> None:
    """Autouse, since this is all that this folder is about."""
