"""Kill -9 anywhere, run again: every page once."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pypdfium2 as pdfium
import pytest

import penstock
from penstock.errors import OutLocked
from penstock.store.ledger import Ledger
from penstock.store.schema import PAGES
from penstock.testing.fake_recipe import fake
from tests.support.waiting import wait_until

DRIVER = Path(__file__).with_name("driver_for_kills.py")
SAMPLE = Path(penstock.__file__).parent / "sample" / "sample.pdf"
NUM_PAGES = 300

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def pdf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pdf") / "many.pdf"
    document = pdfium.PdfDocument.new()
    for _ in range(NUM_PAGES):
        document.new_page(200, 280)
    document.save(path)
    return path


def start(pdf: Path, out: Path, *more: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, str(DRIVER), str(pdf), str(out), *more]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL)


def every_id_once(out: Path, count: int) -> None:
    ids = Counter(entry.id for entry in Ledger(out, PAGES)._all_entries())
    assert len(ids) == count
    assert set(ids.values()) == {1}
    assert not list(out.glob("tmp/*"))


def test_eight_runs_killed_at_random_times_lose_and_double_nothing(pdf: Path, tmp_path: Path) -> None:
    chance = random.Random(20)
    out = tmp_path / "out"
    for _ in range(8):
        process = start(pdf, out)
        time.sleep(chance.uniform(0.3, 2.5))
        process.kill()
        process.wait()
    assert start(pdf, out).wait(timeout=300) == 0
    every_id_once(out, NUM_PAGES)


def test_a_poisoned_page_among_kills_is_one_failure(pdf: Path, tmp_path: Path) -> None:
    chance = random.Random(7)
    out = tmp_path / "out"
    for _ in range(2):
        process = start(pdf, out, "150")
        time.sleep(chance.uniform(1.0, 3.0))
        process.kill()
        process.wait()
    assert start(pdf, out, "150").wait(timeout=300) == 0
    every_id_once(out, NUM_PAGES)
    failed = [page for page in penstock.read(out) if page.failure]
    assert [page.part for page in failed] == [150]
    assert failed[0].failure is not None
    assert failed[0].failure.kind == "WorkerDied"


def test_a_second_driver_is_refused_while_the_first_lives_and_not_after(pdf: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = start(pdf, out)
    wait_until((out / "run.json").exists)
    with pytest.raises(OutLocked, match="Another run"):
        list(penstock.parse(pdf, out=out, recipe=fake(seconds=0.005)))
    first.kill()
    first.wait()
    again = penstock.parse(pdf, out=out, recipe=fake(seconds=0.005))
    assert sum(not page.resumed for page in again) > 0
    every_id_once(out, NUM_PAGES)


def test_real_engines_killed_twice_over_twelve_pages(tmp_path: Path) -> None:
    out = tmp_path / "out"
    folder = tmp_path / "in"
    folder.mkdir()
    for copy in range(3):
        (folder / f"sample{copy}.pdf").write_bytes(SAMPLE.read_bytes())
    command = [sys.executable, "-m", "penstock", "parse", str(folder), "-o", str(out), "--quiet"]
    for seconds in (5.0, 9.0):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(seconds)
        process.kill()
        process.wait()
    done = subprocess.run(command, timeout=600, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    every_id_once(out, 12)


def test_no_process_outlives_a_killed_driver(pdf: Path, tmp_path: Path) -> None:
    import psutil

    process = start(pdf, tmp_path / "out")
    driver = psutil.Process(process.pid)
    wait_until(lambda: driver.children(recursive=True))
    children = driver.children(recursive=True)
    process.kill()
    process.wait()
    _, alive = psutil.wait_procs(children, timeout=10)
    assert not alive
