"""vLLM's pooling and transformers give the same vectors of the same texts and pictures."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import penstock
from penstock.engines.embed.openai import ServerEmbedder
from penstock.engines.vllm.embedding_presets import POOLING_FLAGS
from penstock.engines.vllm.presets import preset
from penstock.engines.vllm.server import ManagedServer
from tests.with_vllm.tiny import ENV, SMALL, START_S, picture

pytestmark = pytest.mark.timeout(900)  # the first test waits for the server

MODEL = "tiny-qwen3-vl"
TEXTS = ["설치 방법", "How wide is a penstock?", "짧다", "word " * 200]
SCRIPT = """
import json, sys
from pathlib import Path
import numpy as np
from penstock.engines.embed.qwen import QwenEmbedder
model, folder, out = sys.argv[1:]
asked = json.loads((Path(folder) / "asked.json").read_text())
images = [path.read_bytes() for path in sorted(Path(folder).glob("*.jpg"))]
engine = QwenEmbedder(model, device="cpu")
short = QwenEmbedder(model, device="cpu", dimensions=16)
np.savez(
    out,
    texts=engine.texts(asked["texts"], asked["instruction"]),
    images=engine.images(images, asked["captions"], asked["instruction"]),
    short=short.texts(asked["texts"], asked["instruction"]),
)
"""


@pytest.fixture(scope="module")
def embedder(checkpoints: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerEmbedder]:
    flags = (*POOLING_FLAGS, "--dtype", "float32")
    made = ManagedServer(
        str(checkpoints / MODEL),
        preset("cpu"),
        extra_args=(*SMALL, *flags),
        log_path=tmp_path_factory.mktemp("vllm") / "pooling.log",
        served_name=MODEL,
        env=ENV,
        probe=False,  # the probe asks for words
        deadline_s=START_S,
    )
    with made:
        engine = ServerEmbedder(server=made.url)
        yield engine
        engine.close()


def test_vectors_are_those_of_transformers(
    embedder: ServerEmbedder, checkpoints: Path, tmp_path: Path
) -> None:
    pictures = [picture(320, 200, 1), picture(640, 480, 2), picture(96, 96, 3)]
    asked = {"texts": TEXTS, "captions": ["", "a caption", "표 1"], "instruction": "Find the page"}
    (tmp_path / "asked.json").write_text(json.dumps(asked), "utf-8")
    for number, data in enumerate(pictures):
        (tmp_path / f"{number}.jpg").write_bytes(data)
    theirs = _transformers(checkpoints / MODEL, tmp_path)
    texts = embedder.texts(TEXTS, asked["instruction"])
    images = embedder.images(pictures, asked["captions"], asked["instruction"])
    assert (1 - (texts * theirs["texts"]).sum(axis=1)).max() < 1e-3
    assert (1 - (images * theirs["images"]).sum(axis=1)).max() < 1e-3
    assert (texts[0] @ texts[1]) < 0.999  # two texts are two vectors
    prefix = texts[:, :16] / np.linalg.norm(texts[:, :16], axis=1, keepdims=True)
    assert (1 - (prefix * theirs["short"]).sum(axis=1)).max() < 1e-3


def _transformers(model: Path, folder: Path) -> dict[str, np.ndarray]:
    """The same by embed_qwen.py, in the environment that has torch."""
    python = Path(os.environ["PENSTOCK_TEST_VLLM"]) / "bin" / "python"
    source = str(Path(penstock.__file__).parents[1])
    out = folder / "theirs.npz"
    done = subprocess.run(
        [str(python), "-c", SCRIPT, str(model), str(folder), str(out)],
        env={**os.environ, "PYTHONPATH": source, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    with np.load(out) as found:
        return dict(found)
