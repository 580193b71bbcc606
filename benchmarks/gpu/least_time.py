"""Computes the least time a card can take for a page of GLM-OCR's benchmark, from shapes and measured rates.

    python benchmarks/gpu/least_time.py [--attention 426] [--products 745] [--bandwidth 4.1]

Needs torch and no card. The rates are what single kernels reached on an H200 (docs/log.md): attention of the
vision tower and products in TFLOP/s, memory in TB/s. Counted are the tower's attention and products, the
language model's products, and its reads of the KV cache, each as if the card did nothing else and never
waited. Norms, activations, sampling, a server's filling and its end come on top. The last line is JSON.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import astuple, dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.lib.answer_lengths import length_of
from benchmarks.lib.common import finish
from benchmarks.lib.known_pages import HEIGHT, WIDTH, boxes_of
from benchmarks.lib.real_shapes import GLM_TEXT, GLM_VISION

PATCH, TOKEN = 14, 28  # pixels a side
PROMPT = 10  # tokens beside the picture
BYTES = 2  # of a number in bfloat16

WIDE, DEPTH = GLM_VISION["hidden_size"], GLM_VISION["depth"]
TEXT_WIDE, TEXT_DEPTH = GLM_TEXT["hidden_size"], GLM_TEXT["num_hidden_layers"]
QUERIES, KEYS = (
    GLM_TEXT[name] * GLM_TEXT["head_dim"] for name in ("num_attention_heads", "num_key_value_heads")
)
# weights that each patch, or each token, is multiplied with
TOWER = DEPTH * (4 * WIDE**2 + 3 * WIDE * GLM_VISION["intermediate_size"])
LANGUAGE = TEXT_DEPTH * (2 * TEXT_WIDE * (QUERIES + KEYS) + 3 * TEXT_WIDE * GLM_TEXT["intermediate_size"])
HEAD = TEXT_WIDE * GLM_TEXT["vocab_size"]


@dataclass(frozen=True, slots=True)
class Work:
    """Operations of attention, of the tower's and the language model's products, and bytes of KV cache."""

    attention: float
    tower: float
    language: float
    cache: float


def of_crop(width: float, height: float) -> Work:
    rows, columns = (TOKEN // PATCH * max(1, round(side / TOKEN)) for side in (height, width))
    patches, written = rows * columns, length_of(round(width), round(height))
    read = patches * PATCH**2 // TOKEN**2 + PROMPT
    seen = sum(read + number for number in range(written))
    return Work(
        attention=4 * patches**2 * WIDE * DEPTH,
        tower=2 * patches * TOWER,
        language=2 * (read + written) * LANGUAGE + 2 * written * HEAD,
        cache=seen * 2 * KEYS * BYTES * TEXT_DEPTH,
    )


def of_pages(count: int, scale: float) -> Work:
    """The mean page's work."""
    boxes = [box for number in range(count) for box in boxes_of(number, WIDTH, HEIGHT)]
    crops = [astuple(of_crop((x1 - x0) * scale, (y1 - y0) * scale)) for x0, y0, x1, y1 in boxes]
    return Work(*(sum(parts) / count for parts in zip(*crops, strict=True)))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--attention", type=float, default=426, help="TFLOP/s")
    parser.add_argument("--products", type=float, default=745, help="TFLOP/s")
    parser.add_argument("--bandwidth", type=float, default=4.1, help="TB/s")
    parser.add_argument("--pages", type=int, default=192)
    options = parser.parse_args()
    rates = (options.attention, options.products, options.products, options.bandwidth)
    rows = {}
    for scale in (1.0, 0.7):
        work = astuple(of_pages(options.pages, scale))
        ms = [amount / rate / 1e9 for amount, rate in zip(work, rates, strict=True)]
        names = ("attention", "tower", "language", "cache")
        rows[str(scale)] = dict(zip(names, ms, strict=True)) | {"pages_per_s": 1000 / sum(ms)}
        shown = ", ".join(f"{name} {value:.1f}" for name, value in zip(names, ms, strict=True))
        print(f"scale {scale}: {shown} ms; together {sum(ms):.1f} ms, {1000 / sum(ms):.1f} pages/s")
    finish("least_time", rows=rows)


if __name__ == "__main__":
    sys.exit(main())
