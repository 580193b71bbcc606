"""A few kills of each verb; the script beside this goes on to a thousand."""

from __future__ import annotations

import pytest

from tests.kills.__main__ import run

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


def test_every_verb_is_whole_after_kills() -> None:
    counts, wrong = run(kills=8, seed=7)
    assert not wrong
    assert counts["met"] >= 8
