"""A recipe that reads the first page of a document and hangs at the second."""

from __future__ import annotations

from penstock.plan import Plan
from penstock.stage import Needs
from penstock.stages.load import Load
from penstock.testing.fake_stages import FakeLayout, FakeRecognise


def hanging() -> Plan:
    recognise = FakeRecognise(hangs=(1,), needs=Needs(process=True), workers=2)
    return Plan(Load(dpi=36, workers=1), FakeLayout(), recognise, name="hanging")
