"""A real Ray cluster of several nodes on this machine: the same pages, each once, whoever dies."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pypdfium2 as pdfium
import pytest
from typer.testing import CliRunner

import penstock
from penstock import sources
from penstock.cli.app import app
from penstock.executors.inline import Inline
from penstock.executors.ray import Ray
from penstock.page import Page
from penstock.plan import Plan
from penstock.stages.load import Load
from penstock.testing import FAKE
from penstock.testing.fake_recipe import fake
from penstock.testing.fake_stages import FakeLayout, FakeRecognise
from tests.support.ray_cluster import own_ports, two_nodes
from tests.support.waiting import wait_until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(300),
    # Ray's own, about settings it will change and sockets it leaves to the collector
    pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

SAMPLE = Path(penstock.__file__).parent / "sample" / "sample.pdf"
NUM_PAGES = 120


@pytest.fixture
def cluster() -> Iterator[Any]:
    with two_nodes() as made:
        yield made


@pytest.fixture
def pages(tmp_path: Path) -> list[Page]:
    path = tmp_path / "many.pdf"
    document = pdfium.PdfDocument.new()
    sample = pdfium.PdfDocument(SAMPLE)
    document.import_pages(sample, [n % len(sample) for n in range(NUM_PAGES)])
    document.save(path)
    return list(sources.list_items([str(path)], Page))


def unguarded(**recognise: Any) -> Plan:
    """A plan whose last stage kills not a process of its own but the machine's."""
    return Plan(Load(dpi=36), FakeLayout(), FakeRecognise(**recognise), name="fake")


def test_two_machines_give_what_one_thread_gives(cluster: Any, pages: list[Page]) -> None:
    executor, plan = Ray(), fake(fails=(5,), seconds=0.05)
    found = {item.id: item for item in executor.stream(plan, iter(pages))}
    assert found == {item.id: item for item in Inline().stream(plan, pages)}
    profile = executor.trace.profile(executor.infos(plan))
    by_name = {row.name: row for row in profile.stages}
    assert by_name["load"].items == NUM_PAGES
    assert by_name["load"].workers == 2, "one on each machine"
    assert by_name["fake_recognise"].failed == 1
    assert len(executor.machines()) == 2


def test_a_machine_that_dies_and_one_that_joins(cluster: Any, pages: list[Page]) -> None:
    stream = Ray().stream(unguarded(seconds=0.05), iter(pages))
    seen = [next(stream) for _ in range(10)]
    cluster.remove_node(next(iter(cluster.worker_nodes)), allow_graceful=False)
    joining = threading.Thread(target=lambda: cluster.add_node(num_cpus=1, **own_ports()), daemon=True)
    joining.start()
    seen += stream
    joining.join(60)
    assert Counter(item.id for item in seen) == Counter(item.id for item in pages)
    assert not any(item.failure for item in seen)


def test_a_page_that_kills_machines_fails_alone(cluster: Any, pages: list[Page]) -> None:
    seen = list(Ray().stream(unguarded(kills=(7,)), iter(pages[:30])))
    assert Counter(item.id for item in seen) == Counter(item.id for item in pages[:30])
    [failed] = [item for item in seen if item.failure]
    assert failed.part == 7
    assert failed.failure is not None
    assert failed.failure.kind == "WorkerDied"


def test_a_stream_that_is_closed_leaves_no_worker(cluster: Any, pages: list[Page]) -> None:
    stream = Ray().stream(unguarded(seconds=0.2), iter(pages))
    next(stream)
    assert machines()
    stream.close()  # type: ignore[attr-defined]
    wait_until(lambda: not machines())


def test_a_driver_killed_leaves_no_worker_behind(cluster: Any, pages: list[Page]) -> None:
    script = Path(__file__).with_name("driver_for_ray.py")
    env = {**os.environ, "RAY_ADDRESS": cluster.address}
    driver = subprocess.Popen([sys.executable, script, pages[0].uri], env=env, stderr=subprocess.DEVNULL)
    wait_until(lambda: len(machines()) == 2)
    driver.kill()
    driver.wait()
    wait_until(lambda: not machines())


def machines() -> list[int]:
    """Processes of the cluster that hold a worker of ours, by the name Ray gives them."""
    return [
        process.pid
        for process in psutil.process_iter(["cmdline"])
        if any("ray::Machine" in word for word in process.info["cmdline"] or ())
    ]


def test_parse_on_a_cluster_is_resumed_on_one_machine(cluster: Any, tmp_path: Path) -> None:
    out, run = tmp_path / "out", CliRunner()
    command = ["parse", str(SAMPLE), "-o", str(out), "--recipe", FAKE, "--json"]
    first = run.invoke(app, [*command, "--executor", "ray", "--pages", "1-2"])
    assert first.exit_code == 0, first.output
    second = run.invoke(app, [*command, "--pages", "1-3"])
    assert second.exit_code == 0, second.output
    assert json.loads(second.stdout)["skipped"] == 2
    lines = (out / "ocr_results.jsonl").read_text().splitlines()
    assert len({json.loads(line)["page_id"] for line in lines}) == 3
