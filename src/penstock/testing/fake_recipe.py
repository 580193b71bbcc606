"""The recipe for making faults happen: real sources and a real load, models that are not there."""

from __future__ import annotations

from penstock.plan import Plan
from penstock.stage import Needs
from penstock.stages.load import Load
from penstock.testing.fake_stages import FakeLayout, FakeRecognise


def fake(
    password: str | None = None,
    page_timeout: float = 60.0,
    seconds: float = 0.0,
    fails: tuple[int, ...] = (),
    kills: tuple[int, ...] = (),
) -> Plan:
    return Plan(
        Load(dpi=36, password=password, deadline_s=page_timeout, workers=1),
        FakeLayout(),
        FakeRecognise(seconds=seconds, fails=fails, kills=kills, needs=Needs(process=bool(kills)), workers=2),
        name="fake",
    )
