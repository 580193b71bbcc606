"""RF-DETR-Seg: one pass, closed vocabulary (COCO's 80, or what it was tuned on). The fast tier.

COCO knows no wardrobe, desk, bookcase or dresser: for whole rooms use Grounding DINO, or tune this one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from penstock.engines.segment.common import device_of, found, full_masks, load, modules, ready, tensor
from penstock.engines.segment.segmenter import FoundThing, SegmenterOptions

if TYPE_CHECKING:
    from penstock.box import Pixels

MODEL = "Roboflow/rf-detr-seg-medium"
MAX_THINGS = 40


class RfDetrSegmenter:
    """Gives the model's own labels, and keeps those in `wanted.labels`."""

    def __init__(self, wanted: SegmenterOptions, model: Any = None) -> None:
        _, transformers = modules()
        self._wanted = wanted
        self._device = device_of(wanted.device)
        if model is None:
            name = wanted.model or MODEL
            model = load(transformers.RfDetrForInstanceSegmentation, name, "RF-DETR-Seg")
        self._model = ready(model, self._device)
        self._side = _side(model.config)

    def find(self, pictures: Sequence[Pixels]) -> list[list[FoundThing]]:
        torch, _ = modules()
        sizes = [(self._side, self._side)] * len(pictures)
        with torch.inference_mode():
            values, _ = tensor(list(pictures), sizes, self._device)
            output = self._model(pixel_values=values)
            scores, labels = output.logits.sigmoid().max(dim=2)
        return [
            self._of_photo(picture, scores[n], labels[n], output.pred_masks[n])
            for n, picture in enumerate(pictures)
        ]

    def close(self) -> None:
        self._model = None

    def _of_photo(self, picture: Pixels, scores: Any, labels: Any, masks: Any) -> list[FoundThing]:
        height, width = picture.shape[:2]
        best, order = (values.tolist() for values in scores.topk(min(MAX_THINGS, len(scores))))
        names = [self._label(number) for number in labels[order].tolist()]
        wanted = self._wanted
        kept = [n for n, name in enumerate(names) if best[n] >= wanted.min_score and name in wanted.labels]
        full = full_masks(masks[[order[n] for n in kept]], width, height)
        things = [found(names[n], best[n], mask) for n, mask in zip(kept, full, strict=True)]
        return [thing for thing in things if thing is not None]

    def _label(self, number: int) -> str:
        return str(self._model.config.id2label.get(number, number))


def _side(config: Any) -> int:
    """The picture's side: the backbone's own, as a multiple of its patches times its windows."""
    backbone = config.backbone_config
    step = int(backbone.patch_size) * int(getattr(backbone, "num_windows", 1))
    return max(step, int(backbone.image_size) // step * step)
