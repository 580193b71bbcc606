"""Measures Qwen3-VL-Embedding on a GPU: pages a second of the embedding stage against the bare network.

    PYTHONPATH=src python benchmarks/gpu/embed_gpu.py          # on a GPU: the 2B model's shape, 2 minutes
    PYTHONPATH=src python benchmarks/gpu/embed_gpu.py --smoke  # on a CPU: a tiny network and small pages

Pages are JPEG files of 2480 x 3508 with a text each, as a scanned report has: both get a vector of
2,048 numbers. Weights are random, tokenizer and processor are made here, so nothing is fetched; the vectors
mean nothing, the work is the same. The tokenizer knows single bytes, so texts have as many bytes as those of
real pages have tokens. "Network" is the network alone with its inputs on the card, batch after batch;
"engine" one caller who hands it the files' bytes; "stage" is load and embed as `penstock embed` runs them.
Busy is the share of the stage's time in which the network computes. Last line: JSON.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from PIL import Image, ImageDraw

from penstock.documents.pages.embedded_page import EmbeddedPage
from penstock.engines.embed.qwen import BATCH_TOKENS, QwenEmbedder
from penstock.executors.local import Local
from penstock.plan import Plan
from penstock.recipes.embed import CALLS
from penstock.stages.embed import BATCH, Embed
from penstock.stages.load import Load
from penstock.trace.spans import Trace

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tests.with_vllm import checkpoints

# Qwen3-VL-Embedding-2B's config.json
TEXT_2B = {
    "vocab_size": 151_936,
    "hidden_size": 2048,
    "intermediate_size": 6144,
    "num_hidden_layers": 28,
    "num_attention_heads": 16,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "rope_parameters": {
        "rope_type": "default",
        "rope_theta": 5_000_000.0,
        "mrope_section": [24, 20, 20],
        "mrope_interleaved": True,
    },
}
VISION_2B = {
    "depth": 24,
    "hidden_size": 1024,
    "intermediate_size": 4096,
    "num_heads": 16,
    "out_hidden_size": 2048,
    "deepstack_visual_indexes": [5, 11, 17],
}
TEXT_BYTES = 700  # tokens here: a KoPub page's OCR text is about as many of the real tokenizer's
SIZE = (2_480, 3_508)  # KoPub's pages are 2,502 x 3,330 in the mean


def random_checkpoint(folder: Path, smoke: bool) -> str:
    """A checkpoint of the real shape with weights out of a hat; the tests' tiny one for a smoke test."""
    folder.mkdir()
    checkpoints.qwen3_vl(folder)
    if smoke:
        return str(folder)
    config = json.loads((folder / "config.json").read_text())
    config["text_config"] |= TEXT_2B
    config["vision_config"] |= VISION_2B
    (folder / "config.json").write_text(json.dumps(config))
    for old in folder.glob("*.safetensors*"):
        old.unlink()
    torch.set_default_dtype(torch.bfloat16)
    with torch.device("cuda"):
        model = transformers.Qwen3VLModel(transformers.AutoConfig.from_pretrained(folder))
    torch.set_default_dtype(torch.float32)
    model.save_pretrained(folder)
    del model
    torch.cuda.empty_cache()
    return str(folder)


def write_page(task: tuple[int, str, int, int]) -> None:
    """A page of text lines as a JPEG; no two are the same."""
    number, path, width, height = task
    picture = Image.new("RGB", (width, height), "white")
    draw = ImageDraw.Draw(picture)
    chance = np.random.default_rng(number)
    for line in range(40, height - 40, 36):
        words = " ".join(f"{value:x}" for value in chance.integers(0, 1 << 20, width // 70))
        draw.text((60, line), words, fill="black")
    data = io.BytesIO()
    picture.save(data, "JPEG", quality=90)
    Path(path).write_bytes(data.getvalue())


def write_pages(folder: Path, count: int, size: tuple[int, int]) -> list[EmbeddedPage]:
    folder.mkdir()
    paths = [folder / f"{number:05d}.jpg" for number in range(count)]
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(write_page, [(number, str(path), *size) for number, path in enumerate(paths)]))
    return [
        EmbeddedPage(
            id=path.stem, uri=str(path), document="bench", part=number, media="image", text=text_of(number)
        )
        for number, path in enumerate(paths)
    ]


def text_of(number: int) -> str:
    return f"{number} " + "word " * (TEXT_BYTES // 5)


def rate(work: Callable[[], Any], count: int, repeats: int) -> float:
    """Pages a second, the median of `repeats` after one that warms up."""
    work()
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return count / statistics.median(times)


def bare(model: str, pages: list[EmbeddedPage], repeats: int) -> dict[str, float]:
    images, texts = [Path(page.uri).read_bytes() for page in pages], [page.text for page in pages]
    engine = QwenEmbedder(model)
    ready = engine.prepared(images, texts)

    def network() -> None:
        for made in ready:
            engine.forward(made)
        synchronize()

    def whole() -> None:
        for start in range(0, len(pages), BATCH):
            some = slice(start, start + BATCH)
            engine.texts(texts[some])
            engine.images(images[some], [""] * len(images[some]))

    alone = rate(network, len(pages), repeats)
    called = rate(whole, len(pages), 1)
    engine.close()
    return {"network_pages_per_s": round(alone, 2), "engine_pages_per_s": round(called, 2)}


def staged(model: str, pages: list[EmbeddedPage], busy: list[tuple[float, float]]) -> dict[str, float]:
    """Load and embed as the recipe does, without the time the weights take to load."""
    stage = Embed(engine="qwen3-vl", model=model, images=True, overlap=CALLS)
    plan = Plan(Load(give="encoded", text_layer=False, workers=2), stage)
    executor = Local(Trace())
    busy.clear()
    began = time.perf_counter()
    width = 0
    for page in executor.stream(plan, iter(pages)):
        assert page.failure is None, page.failure
        assert isinstance(page, EmbeddedPage) and page.image_vector and page.text_vector
        width = len(page.image_vector) // 4
    seconds = time.perf_counter() - began
    row = executor.trace.profile(executor.infos(plan)).stages[-1]
    spent, first = sum(end - start for start, end in busy), busy[0][0]
    return {
        "stage_pages_per_s": round(len(pages) / (seconds - row.open_s), 2),
        "network_busy": round(spent / (busy[-1][1] - first), 4),
        "stage_busy": round(row.busy, 4),
        "width": width,
    }


def timing(busy: list[tuple[float, float]]) -> None:
    """Notes when the network computes; callers wait for its answer at once, so waiting here costs nothing."""
    forward = QwenEmbedder.forward

    def timed(self: QwenEmbedder, made: Any) -> Any:
        began = time.perf_counter()
        states = forward(self, made)
        synchronize()
        busy.append((began, time.perf_counter()))
        return states

    QwenEmbedder.forward = timed  # type: ignore[method-assign]


def synchronize() -> None:
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=240)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--smoke", action="store_true")
    chosen = parser.parse_args()
    count = 3 * BATCH if chosen.smoke else chosen.pages
    size = (320, 448) if chosen.smoke else SIZE
    on_card = torch.cuda.is_available()
    with tempfile.TemporaryDirectory(prefix="penstock-bench-") as name:
        model = random_checkpoint(Path(name) / "model", chosen.smoke)
        pages = write_pages(Path(name) / "pages", count, size)
        figures = bare(model, pages, chosen.repeats)
        print(figures, flush=True)
        busy: list[tuple[float, float]] = []
        timing(busy)
        rows = [staged(model, pages, busy) for _ in range(1 if chosen.smoke else 2)]
        for row in rows:
            print(row, flush=True)
    best = max(rows, key=lambda row: row["stage_pages_per_s"])
    told = {
        "device": torch.cuda.get_device_name() if on_card else "cpu",
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        "pages": count,
        "size": size,
        "batch_tokens": BATCH_TOKENS,
        "gpu_gb": round(torch.cuda.max_memory_allocated() / 2**30, 1) if on_card else 0.0,
        "share_of_network": round(best["stage_pages_per_s"] / figures["network_pages_per_s"], 3),
    }
    print(json.dumps({"benchmark": "embed_gpu", **figures, **best, **told}))


if __name__ == "__main__":
    main()
