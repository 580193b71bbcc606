"""A few kills of each verb; the script beside this goes on to a thousand."""

from __future__ import annotations

import pytest

from tests.kills.__main__ import run

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


VERBS = ("parse", "export", "embed", "enrich", "extract", "volumes", "upload")  # the others take minutes


def test_verbs_are_whole_after_kills() -> None:
    counts, wrong = run(kills=6, seed=7, names=VERBS)
    assert not wrong
    assert counts["met"] >= 6
