"""Measures detectors at real size with random weights: photos a second, batched against one by one.

    PYTHONPATH=src python benchmarks/gpu/segment_gpu.py          # on a GPU: about a minute, no hub, no files
    PYTHONPATH=src python benchmarks/gpu/segment_gpu.py --smoke  # on a CPU: small networks, seconds

Grounding DINO (Swin-T, BERT-base) with SAM 2 (Hiera-T), and RF-DETR-Seg medium (432 pixels). A photo goes
in as RGB bytes, THINGS masks of its own size come out; scaling, upload, networks, boxes and masks count.
Random weights find nothing sensible, so the networks run and known boxes replace their answer. The last
line is JSON.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import cv2
import numpy as np
import torch
import transformers

from penstock.engines.segment.grounded import GroundedSegmenter
from penstock.engines.segment.rfdetr import RfDetrSegmenter
from penstock.engines.segment.segmenter import LABELS, Segmenter, SegmenterOptions

if TYPE_CHECKING:
    from penstock.box import Pixels

THINGS = 8  # in a photo of a room
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", ".")
SURE = 6.0  # the logit of a thing that is there
# what Roboflow publishes for the medium size; the backbone is DINOv2-small
RFDETR: dict[str, Any] = {
    "backbone_config": {
        "model_type": "rf_detr_dinov2", "hidden_size": 384, "num_attention_heads": 6,
        "image_size": 432, "patch_size": 12, "num_windows": 2,
        "out_features": ["stage3", "stage6", "stage9", "stage12"],
        "window_block_indexes": [0, 1, 2, 4, 5, 7, 8, 10, 11],
    },
    "decoder_layers": 5, "num_queries": 200,
}  # fmt: skip
SMALL_RFDETR: dict[str, Any] = {
    "backbone_config": {
        "model_type": "rf_detr_dinov2", "hidden_size": 24, "num_hidden_layers": 4, "num_attention_heads": 2,
        "image_size": 112, "patch_size": 14, "num_windows": 2, "window_block_indexes": [0, 2],
        "out_features": ["stage2", "stage4"],
    },
    "d_model": 32, "decoder_layers": 1, "decoder_self_attention_heads": 2, "decoder_ffn_dim": 32,
    "decoder_cross_attention_heads": 2, "num_queries": 30,
}  # fmt: skip
SMALL_DINO: dict[str, Any] = {
    "backbone_config": {
        "model_type": "swin", "image_size": 64, "embed_dim": 8, "depths": [1, 1, 1, 1],
        "num_heads": [1, 1, 1, 1], "window_size": 4, "out_features": ["stage2", "stage3", "stage4"],
    },
    "text_config": {
        "model_type": "bert", "vocab_size": 100, "hidden_size": 16, "num_hidden_layers": 1,
        "num_attention_heads": 2, "intermediate_size": 16,
    },
    "d_model": 32, "encoder_layers": 1, "decoder_layers": 2, "encoder_attention_heads": 2,
    "decoder_attention_heads": 2, "encoder_ffn_dim": 16, "decoder_ffn_dim": 16, "num_queries": 30,
}  # fmt: skip
SMALL_SAM2: dict[str, Any] = {
    "vision_config": {
        "backbone_config": {
            "model_type": "sam2_hiera_det_model", "hidden_size": 8, "blocks_per_stage": [1, 1, 2, 1],
            "embed_dim_per_stage": [8, 16, 32, 64], "num_attention_heads_per_stage": [1, 1, 2, 2],
            "window_size_per_stage": [8, 4, 14, 7], "global_attention_blocks": [3],
        },
        "backbone_channel_list": [64, 32, 16, 8], "fpn_hidden_size": 32,
    },
    "prompt_encoder_config": {"hidden_size": 32},
    "mask_decoder_config": {
        "hidden_size": 32, "mlp_dim": 32, "num_attention_heads": 2, "iou_head_hidden_dim": 32,
    },
}  # fmt: skip


class KnownBoxes(torch.nn.Module):
    """Runs the real network, then answers with THINGS boxes in two rows and sure logits."""

    def __init__(self, network: Any) -> None:
        super().__init__()
        self.network = network
        self.config = network.config

    def forward(self, **inputs: Any) -> Any:
        output = self.network(**inputs)
        output.logits = torch.full_like(output.logits, -SURE)
        for thing in range(THINGS):
            output.logits[:, thing] = SURE
            x, y = (thing % 4 + 0.5) / 4, 0.3 + 0.4 * (thing // 4)
            output.pred_boxes[:, thing] = torch.tensor([x, y, 0.2, 0.3], device=output.pred_boxes.device)
        return output


def tokenizer() -> Any:
    words = dict.fromkeys(word for label in LABELS for word in label.split())
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "vocab.txt"
        path.write_text("\n".join([*SPECIAL, *words]))
        return transformers.BertTokenizer(str(path))


def grounded(wanted: SegmenterOptions, smoke: bool) -> tuple[Segmenter, int]:
    dino = transformers.GroundingDinoForObjectDetection(
        transformers.GroundingDinoConfig(**(SMALL_DINO if smoke else {}))
    )
    sam = transformers.Sam2Model(transformers.Sam2Config(**(SMALL_SAM2 if smoke else {})))
    return GroundedSegmenter(wanted, (tokenizer(), KnownBoxes(dino), sam)), size_of(dino) + size_of(sam)


def rfdetr(wanted: SegmenterOptions, smoke: bool) -> tuple[Segmenter, int]:
    names = {number: LABELS[number % len(LABELS)] for number in range(91)}
    config = transformers.RfDetrConfig(**(SMALL_RFDETR if smoke else RFDETR), id2label=names)
    network = transformers.RfDetrForInstanceSegmentation(config)
    return RfDetrSegmenter(wanted, KnownBoxes(network)), size_of(network)


def size_of(network: Any) -> int:
    return sum(weights.numel() for weights in network.parameters())


def photos_a_second(segmenter: Segmenter, photos: list[Pixels], seconds: float) -> float:
    """Whole batches until the time is up, after two to warm up."""
    for _ in range(2):
        found = segmenter.find(photos)
    assert all(len(things) > 0 for things in found), "a photo without a mask is not this work"
    done, began = 0, time.perf_counter()
    while (spent := time.perf_counter() - began) < seconds or not done:
        segmenter.find(photos)  # masks come back to the CPU: nothing is left running
        done += len(photos)
    return done / spent


def room(seed: int, height: int, width: int) -> Pixels:
    """Blurred noise: as dull to scale as a photo, and nothing to fetch."""
    noise = np.random.default_rng(seed).integers(0, 255, (height // 8, width // 8, 3)).astype(np.uint8)
    return np.asarray(cv2.resize(noise, (width, height), interpolation=cv2.INTER_CUBIC), np.uint8)


def measured(
    make: Callable[[SegmenterOptions, bool], tuple[Segmenter, int]], options: argparse.Namespace
) -> Any:
    torch.manual_seed(0)
    segmenter, weights = make(SegmenterOptions(min_score=0.3), options.smoke)
    figures: dict[str, Any] = {"million_weights": round(weights / 1e6, 1)}
    for batch in options.batches:
        photos = [room(n, *options.size) for n in range(batch)]
        figures[f"batch {batch}"] = round(photos_a_second(segmenter, photos, options.seconds), 2)
    first, *others = (figures[f"batch {batch}"] for batch in options.batches)
    figures["times_faster"] = round(max(others, default=first) / first, 2)
    if torch.cuda.is_available():
        figures["peak_gib"] = round(torch.cuda.max_memory_allocated() / 2**30, 2)
        torch.cuda.reset_peak_memory_stats()
    segmenter.close()
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--smoke", action="store_true", help="small networks and photos, to try the script")
    parser.add_argument("--batches", type=int, nargs="+", default=[1, 4, 8, 16])
    parser.add_argument("--seconds", type=float, default=6.0, help="for each batch size")
    parser.add_argument("--size", type=int, nargs=2, default=(1080, 1440), metavar=("HEIGHT", "WIDTH"))
    options = parser.parse_args()
    if options.smoke:
        options.batches, options.seconds, options.size = [1, 2], 0.1, (120, 160)
    figures = {}
    for name, make in {"grounded": grounded, "rfdetr": rfdetr}.items():
        figures[name] = measured(make, options)
        print(name, figures[name], flush=True)
    device = torch.cuda.get_device_name() if torch.cuda.is_available() else "cpu"
    versions = {"torch": torch.__version__, "transformers": transformers.__version__}
    facts = {"things": THINGS, "size": list(options.size), "smoke": options.smoke}
    print(
        json.dumps(
            {"benchmark": "segment", "device": device, **facts, **versions, "photos_a_second": figures}
        )
    )


if __name__ == "__main__":
    main()
