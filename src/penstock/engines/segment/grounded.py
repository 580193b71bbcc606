"""Grounding DINO finds boxes by words, SAM 2 outlines what is in them. The default on a GPU.

Words are scored one by one over their own tokens: the model's own reading of a prompt merges
neighbours ("sofa chair"). SAM 2 wants the same number of boxes for every picture of a batch, so short
lists are filled with their first box and the extra masks dropped.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from penstock.box import iou
from penstock.engines.segment.common import device_of, found, full_masks, load, modules, ready, tensor
from penstock.engines.segment.segmenter import FoundThing, SegmenterOptions

if TYPE_CHECKING:
    from penstock.box import Box, Pixels

DINO, SAM2 = "IDEA-Research/grounding-dino-tiny", "facebook/sam2.1-hiera-tiny"
SHORT_SIDE, LONG_SIDE = 800, 1333  # Grounding DINO's own
SAM_SIDE = 1024
MAX_BOXES = 40  # boxes a photo: a room with more is a shop
OVERLAP = 0.7  # of two boxes' union: one thing


class GroundedSegmenter:
    """`wanted.model` is "DINO+SAM2", names or folders. `parts` are your own models."""

    def __init__(self, wanted: SegmenterOptions, parts: tuple[Any, Any, Any] | None = None) -> None:
        self._wanted = wanted
        self._device = device_of(wanted.device)
        tokenizer, dino, sam = parts or _load(wanted.model)
        self._tokenizer = tokenizer
        self._dino, self._sam = ready(dino, self._device), ready(sam, self._device)
        self._words = LabelTokens(tokenizer, wanted.labels)

    def find(self, pictures: Sequence[Pixels]) -> list[list[FoundThing]]:
        """Things in each picture; both models see the whole batch at once."""
        torch, _ = modules()
        with torch.inference_mode():
            boxes = self._boxes(list(pictures))
            return self._masks(list(pictures), boxes)

    def close(self) -> None:
        self._dino = self._sam = None

    def _boxes(self, pictures: list[Pixels]) -> list[list[tuple[str, float, Box]]]:
        torch, _ = modules()
        sizes = [_dino_size(picture) for picture in pictures]
        values, there = tensor(pictures, sizes, self._device)
        ids = torch.tensor([self._words.ids] * len(pictures), device=self._device)
        output = self._dino(
            pixel_values=values, pixel_mask=there, input_ids=ids, attention_mask=torch.ones_like(ids)
        )
        chance = output.logits.sigmoid()[:, :, : len(self._words.ids)].float().cpu().numpy()
        places = output.pred_boxes.float().cpu().numpy()
        return [self._of_photo(chance[n], _in_photo(places[n], pictures[n])) for n in range(len(pictures))]

    def _of_photo(
        self, chance: NDArray[np.float32], places: NDArray[np.float32]
    ) -> list[tuple[str, float, Box]]:
        scores = self._words.scores(chance)  # (queries, labels)
        best = scores.argmax(axis=1)
        sure = scores[np.arange(len(best)), best]
        kept: list[tuple[str, float, Box]] = []
        for query in np.argsort(-sure):
            x0, y0, x1, y1 = (float(v) for v in places[query])
            if sure[query] < self._wanted.min_score or len(kept) == MAX_BOXES:
                break
            label = self._wanted.labels[best[query]]
            if (
                x1 - x0 > 2
                and y1 - y0 > 2
                and not any(iou((x0, y0, x1, y1), box) > OVERLAP for *_, box in kept)
            ):
                kept.append((label, float(sure[query]), (x0, y0, x1, y1)))
        return kept

    def _masks(
        self, pictures: list[Pixels], boxes: list[list[tuple[str, float, Box]]]
    ) -> list[list[FoundThing]]:
        torch, _ = modules()
        with_boxes = [n for n in range(len(pictures)) if boxes[n]]
        result: list[list[FoundThing]] = [[] for _ in pictures]
        if not with_boxes:
            return result
        values, _ = tensor(
            [pictures[n] for n in with_boxes], [(SAM_SIDE, SAM_SIDE)] * len(with_boxes), self._device
        )
        most = max(len(boxes[n]) for n in with_boxes)
        prompts = [_prompts(boxes[n], pictures[n], most) for n in with_boxes]
        output = self._sam(
            pixel_values=values,
            input_boxes=torch.tensor(prompts, device=self._device),
            multimask_output=False,
        )
        for row, number in enumerate(with_boxes):
            height, width = pictures[number].shape[:2]
            masks = full_masks(output.pred_masks[row, : len(boxes[number]), 0], width, height)
            things = [
                found(label, score, mask)
                for (label, score, _), mask in zip(boxes[number], masks, strict=True)
            ]
            result[number] = [thing for thing in things if thing is not None]
        return result


class LabelTokens:
    """The prompt's tokens, and which of them belong to which label."""

    def __init__(self, tokenizer: Any, labels: tuple[str, ...]) -> None:
        dot = tokenizer.encode(".", add_special_tokens=False)
        self.ids: list[int] = [tokenizer.cls_token_id]
        self._spans: list[tuple[int, int]] = []
        for label in labels:
            tokens = tokenizer.encode(label.lower(), add_special_tokens=False)
            self._spans.append((len(self.ids), len(self.ids) + len(tokens)))
            self.ids += [*tokens, *dot]
        self.ids.append(tokenizer.sep_token_id)

    def scores(self, chance: NDArray[np.float32]) -> NDArray[np.float32]:
        """For every query and label the chance of the label's surest token."""
        columns = [chance[:, start:end].max(axis=1) for start, end in self._spans]
        return np.stack(columns, axis=1)


def _load(model: str | None) -> tuple[Any, Any, Any]:
    _, transformers = modules()
    dino, _, sam = (model or f"{DINO}+{SAM2}").partition("+")
    return (
        load(transformers.AutoTokenizer, dino, "Grounding DINO's words"),
        load(transformers.GroundingDinoForObjectDetection, dino, "Grounding DINO"),
        load(transformers.Sam2Model, sam or SAM2, "SAM 2"),
    )


def _dino_size(picture: Pixels) -> tuple[int, int]:
    height, width = picture.shape[:2]
    scale = min(SHORT_SIDE / min(height, width), LONG_SIDE / max(height, width))
    return max(1, round(width * scale)), max(1, round(height * scale))


def _in_photo(places: NDArray[np.float32], picture: Pixels) -> NDArray[np.float32]:
    """Centres and sizes in shares, as corners in the picture's pixels.

    The model scales its reference points by the share of a picture that is not padding, so its shares
    are of the picture and not of the padded batch.
    """
    height, width = picture.shape[:2]
    centre, half = places[:, :2], places[:, 2:] / 2
    corners = np.concatenate([centre - half, centre + half], axis=1)
    limits = np.array([width, height, width, height], np.float32)
    return np.asarray(np.clip(corners, 0, 1) * limits, np.float32)


def _prompts(boxes: list[tuple[str, float, Box]], picture: Pixels, most: int) -> list[list[float]]:
    height, width = picture.shape[:2]
    scale = (SAM_SIDE / width, SAM_SIDE / height, SAM_SIDE / width, SAM_SIDE / height)
    scaled = [[v * s for v, s in zip(box, scale, strict=True)] for _, _, box in boxes]
    return scaled + [scaled[0]] * (most - len(scaled))
