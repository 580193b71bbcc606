"""The whole pipeline with servers that it starts and stops itself: a real vLLM reads, then one embeds."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import penstock
from tests.with_vllm.tiny import ENV, SMALL

SAMPLE = Path(penstock.__file__).parent / "sample" / "sample.pdf"

pytestmark = pytest.mark.timeout(1_800)  # two servers start, one after the other


def test_pages_are_read_embedded_and_found_by_servers_of_its_own(checkpoints: Path, tmp_path: Path) -> None:
    out = tmp_path / "output"
    (tmp_path / "questions.jsonl").write_text('{"id": "q", "text": "penstock", "relevant": []}\n')
    asked = [
        *(sys.executable, "-m", "penstock", "run", "pages", str(SAMPLE), "--output-dir", str(out)),
        *("--data-dir", str(tmp_path), "--recipe", "glm-ocr", "--layout", "cdla", "--limit", "2"),
        *("--ocr-model", str(checkpoints / "tiny-glm-ocr")),
        *("--embedding-model", str(checkpoints / "tiny-qwen3-vl")),
        *("--queries", str(tmp_path / "questions.jsonl"), "--log", str(tmp_path / "run.log"), "--json"),
    ]
    starts = tmp_path / "starts"
    env = {**os.environ, **ENV, "PENSTOCK_VLLM": str(_recording(tmp_path / "vllm", starts))}
    done = subprocess.run(asked, env=env, capture_output=True, text=True, timeout=1_500)
    assert done.returncode == 0, done.stderr
    reads, embeds = (shlex.split(line) for line in starts.read_text().splitlines())
    assert reads[:2] == ["serve", str(checkpoints / "tiny-glm-ocr")]
    assert embeds[:2] == ["serve", str(checkpoints / "tiny-qwen3-vl")]
    assert "--runner" in embeds and "--runner" not in reads
    assert json.loads(done.stdout)["pages"] == {"done": 2, "skipped": 0, "failed": 0}
    assert np.load(out / "embeddings" / "corpus_images.npy").shape[0] == 2
    assert np.load(out / "embeddings" / "queries.npy").shape[0] == 1
    profile = json.loads((out / "profile.json").read_text())
    assert profile["servers"]["total"]["requests"] > 0
    _search_answers(out, env)


def _recording(script: Path, starts: Path) -> Path:
    """The real vllm behind a script that writes down how it was started and adds what a tiny model needs."""
    words = 'for word in "$@"; do printf "\'%s\' " "$word"; done'
    record = f"{{ {words}; echo; }} >> {shlex.quote(str(starts))}"
    real = f'exec {shlex.quote(os.environ["PENSTOCK_VLLM"])} "$@" {shlex.join(SMALL)}'
    script.write_text(f"#!/bin/sh\n{record}\n{real}\n")
    script.chmod(0o755)
    return script


def _search_answers(out: Path, env: dict[str, str]) -> None:
    """By words: the server that embeds questions ended with the run."""
    asked = [sys.executable, "-m", "penstock", "search", str(out), "a", "--json", "--weights"]
    found = subprocess.run(
        [*asked, "text=0,image=0,region=0"], env=env, capture_output=True, text=True, timeout=300
    )
    assert found.returncode in (0, 1), found.stderr
    assert isinstance(json.loads(found.stdout), (dict, list))
