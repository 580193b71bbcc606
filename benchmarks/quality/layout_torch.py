"""Compares PP-DocLayoutV3 in torch with its publisher's ONNX file on real pages: boxes, labels, order, masks.

    python tools/models/doclayout_checkpoint.py PP-DocLayoutV3.onnx CHECKPOINT
    python benchmarks/quality/layout_torch.py CHECKPOINT [--onnx FILE] [--data DATA] [--pages 4]
                                              [--precision fp32 bf16] [--device cpu] [--compile]

Both get the same page scaled the same way, so that the networks are compared and not their resizing. A box
is the same if it overlaps by .9. A box that one side has barely above the threshold and the other has not is
counted apart. `--pages` are of each source. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import cv2
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.lib.common import DATA
from benchmarks.quality.layout_boxes import matches, overlaps
from penstock.choices import Precision
from penstock.engines.layout.clean import FoundBoxes
from penstock.engines.layout.doclayout import FixedBatch, dtype_of, load_model
from penstock.engines.layout.doclayout_input import scale
from penstock.engines.layout.doclayout_net import LayoutNet, masks_of
from penstock.engines.layout.doclayout_onnx import NAME, found_in, prepare
from penstock.engines.layout.doclayout_output import found_in as rows_in
from penstock.engines.layout.torch_import import torch
from penstock.engines.weights import registry as weights
from penstock.engines.weights.onnx import open_session

SOURCES = (
    "omnidocbench_demo/images", "devset/austrian_newspapers", "devset/degraded_korean",
    "devset/docbank_papers", "devset/ehri_typewritten", "devset/ndl_docl_japanese",
    "devset/ocrd_gt_structure_text", "devset/publaynet_examples", "devset/receipts_de",
    "devset/tapuscorpus_typewritten_fr", "devset/cremma_handwriting_fr", "sroie_sample/img",
)  # fmt: skip
SIZE = 800
THRESHOLD = 0.3
DOUBT = 0.02  # a score so near to the threshold may fall on either side of it
SAME = 0.9  # overlap of two boxes that are taken for one


@dataclass
class Difference:
    """What one way differs by, over all pages. Pixels are those of the 800 x 800 input."""

    pages: int = 0
    boxes: int = 0
    alone: int = 0  # boxes that only one side has
    doubtful: int = 0  # of these, such as are within DOUBT of the threshold
    labels: int = 0
    pairs: int = 0
    turned: int = 0  # pairs of boxes in the other order
    edges: list[float] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    masks: list[float] = field(default_factory=list)

    def add(self, one: FoundBoxes, other: FoundBoxes, masks: tuple[Any, Any] | None = None) -> None:
        pairs = [(i, j) for i, j in matches(one.boxes, other.boxes) if _overlap(one, other, i, j) >= SAME]
        self.pages += 1
        self.boxes += len(one.boxes)
        for found, matched in ((one, {i for i, _ in pairs}), (other, {j for _, j in pairs})):
            alone = [i for i in range(len(found.boxes)) if i not in matched]
            self.alone += len(alone)
            self.doubtful += sum(bool(found.scores[i] < THRESHOLD + DOUBT) for i in alone)
        for i, j in pairs:
            self.labels += int(one.labels[i] != other.labels[j])
            self.edges.append(float(np.abs(one.boxes[i] - other.boxes[j]).max()))
            self.scores.append(float(abs(one.scores[i] - other.scores[j])))
            if masks is not None:
                self.masks.append(_mask_overlap(masks[0][i], masks[1][j]))
        for place, (i, j) in enumerate(pairs):
            for k, m in pairs[:place]:
                self.pairs += 1
                self.turned += int((one.order[i] < one.order[k]) != (other.order[j] < other.order[m]))

    def row(self) -> dict[str, float]:
        def rounded(values: list[float], share: float) -> float:
            return round(float(np.quantile(values, share)), 4) if values else float("nan")

        return {
            "pages": self.pages,
            "boxes": self.boxes,
            "only in one": self.alone,
            "of these doubtful": self.doubtful,
            "other label": self.labels,
            "pairs": self.pairs,
            "other order": self.turned,
            "edges: median px": rounded(self.edges, 0.5),
            "edges: 99 % px": rounded(self.edges, 0.99),
            "edges: most px": rounded(self.edges, 1),
            "scores: most": rounded(self.scores, 1),
            "masks: least overlap": rounded(self.masks, 0),
            "masks: median overlap": rounded(self.masks, 0.5),
        }


def _overlap(one: FoundBoxes, other: FoundBoxes, i: int, j: int) -> float:
    return float(overlaps(one.boxes[i : i + 1], other.boxes[j : j + 1])[0, 0])


def _mask_overlap(one: Any, other: Any) -> float:
    either = np.logical_or(one, other).sum()
    return float(np.logical_and(one, other).sum() / either) if either else 1.0


def files_of(data: Path, count: int, endings: Sequence[str] = (".jpg", ".png")) -> Iterator[Path]:
    """Yields `count` pages of each source."""
    for source in SOURCES:
        files = sorted(path for path in (data / source).glob("*") if path.suffix in endings)
        step = max(1, len(files) // count)
        yield from files[::step][:count]


def scaled_page(path: Path) -> Any:
    pixels = cv2.imread(str(path), cv2.IMREAD_COLOR_RGB)
    return cv2.resize(pixels, (SIZE, SIZE), interpolation=cv2.INTER_CUBIC)


def by_onnx(session: Any, page: Any) -> tuple[FoundBoxes, Any]:
    """Returns the boxes of the file and their masks."""
    rows, counts, masks = session.run(None, prepare(page))
    rows, masks = rows[: int(counts[0])], masks[: int(counts[0])]
    return found_in(rows, THRESHOLD), masks[rows[:, 1] >= THRESHOLD] > 0


class Torch:
    """The checkpoint in one precision, on a card captured as the engine has it. Call it with a page."""

    def __init__(self, checkpoint: Path, device: str, precision: Precision, compile: bool = False) -> None:
        self._device, self._dtype = device, dtype_of(precision, device)
        net: Any = LayoutNet(load_model(str(checkpoint)), SIZE, device, self._dtype)
        shape = (1, 3, SIZE, SIZE)
        on_card = device.startswith("cuda")
        self._net = FixedBatch(net, shape, device, self._dtype, compile) if on_card else net

    def __call__(self, page: Any) -> tuple[FoundBoxes, Any]:
        with torch.inference_mode():
            picture = scale(torch.from_numpy(page).permute(2, 0, 1), SIZE)
            output = self._net(picture[None].to(device=self._device, dtype=self._dtype))
            found = rows_in(output.rows[0].float().cpu().numpy(), SIZE, SIZE, THRESHOLD)
            return found, masks_of(output, 0, found.query.tolist(), 0.5)


def compare(given: argparse.Namespace) -> dict[str, dict[str, float]]:
    pages = [scaled_page(path) for path in files_of(given.data, given.pages)]
    if not pages:
        raise SystemExit(f"{given.data} holds no pages of these sources: name the folder of test data.")
    session = open_session(given.onnx or weights.path(NAME), given.threads, arena=True, name=NAME)
    truth = [by_onnx(session, page) for page in pages]
    found = {}
    for precision in given.precision:
        network = Torch(given.checkpoint, given.device, precision, given.compile)
        difference = Difference()
        for page, (boxes, masks) in zip(pages, truth, strict=True):
            other, other_masks = network(page)
            difference.add(boxes, other, (masks, other_masks))
        found[precision + (", compiled" if given.compile else "")] = difference.row()
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("checkpoint", type=Path, help="folder that tools/models/doclayout_checkpoint.py made")
    parser.add_argument("--onnx", type=Path, help="the publisher's file; default: the one that was fetched")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--pages", type=int, default=6)
    parser.add_argument("--precision", nargs="+", default=["fp32", "bf16"])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--compile", action="store_true", help="on a GPU")
    parser.add_argument("--threads", type=int, default=1)
    found = compare(parser.parse_args(arguments))
    names = list(next(iter(found.values())))
    for name in names:
        print(f"{name:24}" + "".join(f"{row[name]:>14}" for row in found.values()))
    print(json.dumps(found))


if __name__ == "__main__":
    main()
