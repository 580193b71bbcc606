"""YOLOE through an `ultralytics` the user installed (AGPL-3.0: not ours to ship).

Words become embeddings by a CLIP it would download; for machines without a network, save them once
(`save_prompt_embeddings`) and give the .npz with --model WEIGHTS.pt+WORDS.npz. Prompt-free weights
(`*-pf.pt`) need neither.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from penstock.engines.segment.segmenter import FoundThing, SegmenterOptions
from penstock.errors import EngineError, MissingModel

if TYPE_CHECKING:
    from penstock.box import Pixels

MODEL = "yoloe-11l-seg.pt"
SIDE = 640
MAX_THINGS = 40


class YoloeSegmenter:
    """Loads YOLOE, or takes your own `model` with its classes set."""

    def __init__(self, wanted: SegmenterOptions, model: Any = None) -> None:
        self._wanted = wanted
        self._model = model if model is not None else _load(wanted)

    def find(self, pictures: Sequence[Pixels]) -> list[list[FoundThing]]:
        results = self._model.predict(
            [np.ascontiguousarray(picture[:, :, ::-1]) for picture in pictures],  # it takes BGR
            conf=self._wanted.min_score,
            imgsz=SIDE,
            retina_masks=True,  # masks of the photo's own size
            max_det=MAX_THINGS,
            device=None if self._wanted.device == "auto" else self._wanted.device,
            verbose=False,
        )
        return [_things(result) for result in results]

    def close(self) -> None:
        self._model = None


def _things(result: Any) -> list[FoundThing]:
    if result.masks is None:  # nothing was found
        return []
    masks = result.masks.data.cpu().numpy() > 0.5
    boxes, scores = result.boxes.xyxy.cpu().numpy(), result.boxes.conf.cpu().numpy()
    names = [result.names[int(number)] for number in result.boxes.cls.cpu().numpy()]
    return [
        FoundThing(name, float(score), (float(box[0]), float(box[1]), float(box[2]), float(box[3])), mask)
        for name, score, box, mask in zip(names, scores, boxes, masks, strict=True)
    ]


def _load(wanted: SegmenterOptions) -> Any:
    os.environ.setdefault("YOLO_AUTOINSTALL", "false")  # it would pip install behind our back
    try:
        from ultralytics import YOLOE  # type: ignore[import-not-found, unused-ignore]
    except ImportError as exc:
        raise MissingModel(
            "YOLOE needs the package ultralytics, which is AGPL-3.0 and yours to install.",
            "Run: pip install ultralytics",
        ) from exc
    weights, _, words = (wanted.model or MODEL).partition("+")
    if not Path(weights).is_file():
        raise MissingModel(f"YOLOE's weights {weights} are not there.", "Name the file with --model.")
    model = YOLOE(weights)
    if weights.endswith("-pf.pt"):
        return model
    try:
        if words:
            model.load_prompt_embeddings(words)
        else:
            model.set_classes(list(wanted.labels), model.get_text_pe(list(wanted.labels)))
    except (ModuleNotFoundError, OSError) as exc:
        raise EngineError(
            f"YOLOE cannot turn words into embeddings here: {exc}.",
            "Save them where there is a network and pass --model WEIGHTS.pt+WORDS.npz.",
        ) from exc
    return model
