"""Ranks that write to a store which fails now and then, killed at random times: each page once."""

from __future__ import annotations

import random
import subprocess
import sys
from collections import Counter
from itertools import islice
from pathlib import Path

import pytest

from penstock.passes.parse import ParseOptions, parse_work
from penstock.store.out import Out
from penstock.store.remote import mirrored
from penstock.testing.fake_recipe import fake
from tests.support.made_pdf import pdf, text
from tests.support.object_store import bucket

DRIVER = Path(__file__).with_name("driver_for_ranks.py")
RANKS = 2
NUM_KILLS = 20
NUM_DOCUMENTS, PAGES_EACH = 20, 20

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


@pytest.fixture
def inputs(tmp_path: Path) -> Path:
    folder = tmp_path / "inputs"
    folder.mkdir()
    for number in range(NUM_DOCUMENTS):
        pages = [text(f"document {number} page {page}") for page in range(PAGES_EACH)]
        (folder / f"d{number:02d}.pdf").write_bytes(pdf(pages))
    return folder


def start(inputs: Path, address: str, home: Path, rank: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, str(DRIVER), str(inputs), address, str(home), f"{rank}/{RANKS}"]
    return subprocess.Popen(command, stdout=subprocess.PIPE)


def kill_after(process: subprocess.Popen[bytes], pages: int) -> int:
    """Kills a rank when it has finished so many pages. Returns how many it had."""
    assert process.stdout is not None
    done = sum(1 for _ in islice(process.stdout, pages))
    process.kill()
    process.communicate()
    return done


def test_ranks_killed_twenty_times_over_a_flaky_store_lose_and_double_nothing(
    inputs: Path, tmp_path: Path
) -> None:
    parse_work(ParseOptions(inputs=(str(inputs),), recipe=fake()), tmp_path / "whole").finish()
    whole = [(page.id, page.markdown) for page in Out(tmp_path / "whole").read_pages()]
    chance, pages_before_kills = random.Random(50), 0
    with bucket("ranks", fault=0.05, seed=50) as store:
        address = f"{store}/out"
        for kill in range(NUM_KILLS):
            # every second time on a machine that has nothing of the run yet
            home = tmp_path / ("kept" if kill % 2 else f"new-{kill}")
            process = start(inputs, address, home, chance.randint(1, RANKS))
            pages_before_kills += kill_after(process, chance.choice((0, 1, 5, 17, 60, 200)))
            half_read = reads(address, tmp_path / f"reader-{kill}")
            assert set(half_read) <= set(whole)  # nothing half-written is ever read
        for rank in range(1, RANKS + 1):
            last = start(inputs, address, tmp_path / "last", rank)
            last.communicate(timeout=300)
            assert last.returncode == 0
        assert reads(address, tmp_path / "reader") == whole
    assert pages_before_kills > 0
    assert set(Counter(id for id, _ in whole).values()) == {1}


def reads(address: str, home: Path) -> list[tuple[str, str]]:
    with mirrored(address, home) as out:
        return [(page.id, page.markdown) for page in Out(out).read_pages()]
