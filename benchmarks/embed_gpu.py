"""Qwen3-VL-Embedding on a card: pages and texts a second of the bare engine, and where a batch's time goes.

    PYTHONPATH=src python benchmarks/embed_gpu.py TINY            # on a GPU: the 2B model's shape
    PYTHONPATH=src python benchmarks/embed_gpu.py TINY --smoke    # on a CPU: the tiny checkpoint as it is

TINY is a tiny Qwen3-VL checkpoint (tests/vllm/checkpoints.py): its tokenizer and processor are used, the
network gets Qwen3-VL-Embedding-2B's shape and random weights. The vectors mean nothing, the work is the same,
but for a tokenizer of single bytes: texts have as many tokens as those of real pages. Last line: JSON.
"""

from __future__ import annotations

import argparse
import io
import json
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

from penstock.engines.embed_qwen import QwenEmbedder, _decoded

TEXT_2B = {
    "hidden_size": 2048,
    "intermediate_size": 6144,
    "num_hidden_layers": 28,
    "num_attention_heads": 16,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "max_position_embeddings": 32_768,
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


def random_checkpoint(tiny: Path, folder: Path) -> Path:
    """Tokenizer and processor of `tiny`, the real model's shape, weights out of a hat."""
    from transformers import AutoConfig, Qwen3VLModel

    import torch

    shutil.copytree(tiny, folder, ignore=shutil.ignore_patterns("*.safetensors"), dirs_exist_ok=True)
    config = json.loads((tiny / "config.json").read_text())
    config["text_config"] |= TEXT_2B
    config["vision_config"] |= VISION_2B
    (folder / "config.json").write_text(json.dumps(config))
    torch.set_default_dtype(torch.bfloat16)
    with torch.device("cuda"):
        model = Qwen3VLModel(AutoConfig.from_pretrained(folder))
    torch.set_default_dtype(torch.float32)
    model.save_pretrained(folder)
    del model
    torch.cuda.empty_cache()
    return folder


def page(number: int, width: int, height: int) -> bytes:
    """A page of text lines as a JPEG; no two are the same."""
    picture = Image.new("RGB", (width, height), "white")
    draw = ImageDraw.Draw(picture)
    chance = np.random.default_rng(number)
    for line in range(40, height - 40, 36):
        words = " ".join(f"{value:x}" for value in chance.integers(0, 1 << 20, width // 70))
        draw.text((60, line), words, fill="black")
    data = io.BytesIO()
    picture.save(data, "JPEG", quality=90)
    return data.getvalue()


def rate(work: Any, count: int, repeats: int = 3) -> float:
    work()
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return count / sorted(times)[repeats // 2]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tiny", type=Path)
    parser.add_argument("--pages", type=int, default=64)
    parser.add_argument("--batch-tokens", type=int, nargs="*", default=[16_384, 32_768, 65_536])
    parser.add_argument("--smoke", action="store_true")
    chosen = parser.parse_args()
    import torch

    count = 4 if chosen.smoke else chosen.pages
    size = (320, 448) if chosen.smoke else (2_480, 3_508)  # KoPub's pages are 2,502 x 3,330 in the mean
    images = [page(number, *size) for number in range(count)]
    texts = [f"{number} " + "word " * (TEXT_BYTES // 5) for number in range(4 * count)]
    folder = Path(tempfile.mkdtemp(prefix="penstock-bench-"))
    try:
        model = chosen.tiny if chosen.smoke else random_checkpoint(chosen.tiny, folder / "model")
        rows = [_measure(str(model), images, texts, tokens) for tokens in chosen.batch_tokens]
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    decode_s = _seconds(lambda: [_decoded(image) for image in images]) / count
    device = torch.cuda.get_device_name() if torch.cuda.is_available() else "cpu"
    for row in rows:
        print(row)
    best = max(rows, key=lambda row: row["pages_per_s"])
    figures = {"device": device, "torch": torch.__version__, "decode_ms": round(1000 * decode_s, 2)}
    print(json.dumps({"benchmark": "embed_gpu", **figures, "size": size, "best": best, "all": rows}))


def _measure(model: str, images: list[bytes], texts: list[str], batch_tokens: int) -> dict[str, float]:
    import torch

    engine = QwenEmbedder(model, batch_tokens=batch_tokens)
    pages = rate(lambda: engine.images(images, [""] * len(images)), len(images))
    read = rate(lambda: engine.texts(texts), len(texts))
    alone = _network_alone(engine, images)
    engine.close()
    memory = torch.cuda.max_memory_allocated() / 2**30 if torch.cuda.is_available() else 0.0
    return {
        "batch_tokens": batch_tokens,
        "pages_per_s": round(pages, 2),
        "network_alone_pages_per_s": round(alone, 2),
        "share_of_network": round(pages / alone, 3),
        "texts_per_s": round(read, 1),
        "gpu_gb": round(memory, 1),
    }


def _network_alone(engine: QwenEmbedder, images: list[bytes]) -> float:
    """Pages a second when the inputs lie ready on the card."""
    import torch

    made = engine.prepared(images)

    def work() -> None:
        with torch.inference_mode():
            for inputs in made:
                engine.forward(inputs)
        if torch.cuda.is_available():
            torch.cuda.synchronize()

    return rate(work, len(images))


def _seconds(work: Any) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
