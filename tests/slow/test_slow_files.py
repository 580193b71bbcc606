"""Files that take long to count, sent to a real service; honest uploads are read meanwhile."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("uvicorn", reason="needs penstock-pipeline[serve]")

from penstock.serve.reading.service import Service
from penstock.testing.fake_recipe import fake
from tests.support.made_pdf import pdf
from tests.support.running_service import Running

pytestmark = pytest.mark.slow

NUM_HOSTILE = 20
PARTS = b"--b\nContent-Disposition: attachment; filename=x\n\nx\n"


def hostile(number: int) -> tuple[str, bytes]:
    """A mail of 75,000 parts, a page of a million elements: ten seconds of work and more each."""
    if number % 2:
        head = b'From: a@b.c\nSubject: x\nContent-Type: multipart/mixed; boundary="b"\n\n'
        return f"{number}.eml", head + PARTS * 75_000
    return f"{number}.html", b"<html><body>" + b"<p>x" * 990_000


def test_twenty_files_that_take_long_hold_up_no_other(tmp_path: Path) -> None:
    with Service(tmp_path, fake()) as service, Running(service) as client:
        for number in range(NUM_HOSTILE):
            client.send(*hostile(number))
        read = [client.wait(client.send(f"{number}.pdf", pdf(["x"]))["name"]) for number in range(5)]
        assert [one["done"] for one in read] == [1] * 5
        assert service.waiting >= NUM_HOSTILE - 10  # the hostile ones still wait
