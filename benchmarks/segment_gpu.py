"""Detectors at real size with random weights: photos a second, batched against one by one.

Grounding DINO (Swin-T) with SAM 2 (Hiera-T), and RF-DETR-Seg, on the device torch finds. Random weights
find nothing sensible, so every photo is given the same number of boxes; the time is the models'.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import transformers

import torch
from common import finish
from penstock.engines.segment import LABELS, Segmenter, Wanted
from penstock.engines.segment_grounded import GroundedSegmenter
from penstock.engines.segment_rfdetr import RfDetrSegmenter

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", ".")


def tokenizer() -> object:
    words = dict.fromkeys(word for label in LABELS for word in label.split())
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "vocab.txt"
        path.write_text("\n".join([*SPECIAL, *words]))
        return transformers.BertTokenizer(str(path))


def grounded(wanted: Wanted) -> Segmenter:
    dino = transformers.GroundingDinoForObjectDetection(transformers.GroundingDinoConfig())
    return GroundedSegmenter(wanted, (tokenizer(), dino, transformers.Sam2Model(transformers.Sam2Config())))


def rfdetr(wanted: Wanted) -> Segmenter:
    return RfDetrSegmenter(wanted, transformers.RfDetrForInstanceSegmentation(transformers.RfDetrConfig()))


def photos_a_second(segmenter: Segmenter, count: int, batch: int, size: tuple[int, int]) -> float:
    random = np.random.default_rng(0)
    photos = [random.integers(0, 255, (*size, 3)).astype(np.uint8) for _ in range(batch)]
    segmenter.find(photos)  # warm-up
    rounds = max(1, count // batch)
    began = time.perf_counter()
    for _ in range(rounds):
        segmenter.find(photos)
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return rounds * batch / (time.perf_counter() - began)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--photos", type=int, default=64)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--size", type=int, nargs=2, default=(1080, 1440), metavar=("HEIGHT", "WIDTH"))
    options = parser.parse_args()
    wanted = Wanted(min_score=0.0)
    figures: dict[str, dict[str, float]] = {}
    makers: dict[str, Callable[[Wanted], Segmenter]] = {"grounded": grounded, "rfdetr": rfdetr}
    for name, make in makers.items():
        torch.manual_seed(0)
        segmenter = make(wanted)
        size = (options.size[0], options.size[1])
        figures[name] = {
            f"batch {batch}": photos_a_second(segmenter, options.photos, batch, size)
            for batch in sorted({1, options.batch})
        }
        segmenter.close()
        print(name, {key: round(value, 2) for key, value in figures[name].items()}, "photos a second")
    device = torch.cuda.get_device_name() if torch.cuda.is_available() else "cpu"
    finish("segment", device=device, torch=torch.__version__, photos_a_second=figures)


if __name__ == "__main__":
    main()
