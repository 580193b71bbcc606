"""Fixtures all tests share."""

from __future__ import annotations

import contextlib
import fcntl
import gc
import os
import signal
from collections.abc import Generator
from pathlib import Path

import pytest

import penstock
from penstock.processes.garbage import keep_what_is_loaded
from tests.support.partial_cache import without_large_layout

# tests with an empty cache ask no network; those of fetching unset it and serve the packages themselves
os.environ.setdefault("PENSTOCK_OFFLINE", "1")

# what was fetched beyond `make setup` changes no test
without_large_layout()

# no verdict by a clock: a busy machine is no error. The environment of the servers has no hypothesis.
with contextlib.suppress(ImportError):
    from hypothesis import HealthCheck, settings

    settings.register_profile("no-clock", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("no-clock")

# a shell starts what it runs in the background deaf to Ctrl-C, and so would be the programs that tests start
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

SAMPLE = Path(penstock.__file__).parent / "sample" / "sample.pdf"
REPO = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("PENSTOCK_DATA", REPO.parent / "shared" / "data"))
LONG_FILES = (
    # of the slow tests, the longest first
    "test_corpora.py", "test_faults.py", "test_installed.py", "test_chunks.py", "test_pages.py",
    "test_documents.py", "test_kill.py", "test_ranks_killed.py", "test_office_files.py", "test_examples.py",
    # of the others: 10 s of CPU and more each
    "test_pipeline.py", "test_signals_and_streams.py", "test_orient.py", "test_embed.py", "test_pool.py",
    "test_kept_downloads.py", "test_bench.py", "test_remote.py", "test_hostile.py", "test_server.py",
)  # fmt: skip


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is made while tests are collected stays: no search for garbage walks through it, now or later."""
    gc.disable()
    try:
        return (yield)
    finally:
        keep_what_is_loaded()
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What compares with data we may not ship is run by `make test-slow`, where that data is."""
    for item in items:
        if "shared_data" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.shared_data)
            item.add_marker(pytest.mark.slow)
    # one file is one worker's: the longest begin first, so that no core waits for the last of them
    turns = {name: turn for turn, name in enumerate(LONG_FILES)}
    items.sort(key=lambda item: turns.get(item.path.name, len(turns)))


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real pages and ground truth, which is not part of the project."""
    if not DATA.is_dir():
        pytest.skip(f"no test data at {DATA}; set PENSTOCK_DATA to the folder that holds it")
    return DATA


@pytest.fixture(scope="session")
def korean_run(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Korean documents and the sample, read with the built-in models once for all workers. Copy it."""
    home = tmp_path_factory.getbasetemp()
    shared = home.parent if "PYTEST_XDIST_WORKER" in os.environ else home
    inputs = [shared_data / "korean_pdf", shared_data / "korean_text", SAMPLE]
    with (shared / "korean_run.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for _ in penstock.parse(inputs, out=shared / "korean_run"):  # the second worker finds it done
            pass
    return shared / "korean_run"


@pytest.fixture(scope="session")
def small_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two born-digital pages of the sample, read without a model: seconds."""
    out = tmp_path_factory.mktemp("small") / "out"
    for page in penstock.parse(SAMPLE, out=out, pages="1-3", layout="rules", text_layer="always"):
        assert page.failure is None
    return out
