"""Finds the things in a photo and outlines them: boxes with label, score and mask.

Boxes that a user gave are taken instead of a model's, photo by photo: those of the plan, and those that
a photo brings as its objects. Masks are cleaned, overlaps settled, and things that the frame cuts are marked.
"""

from __future__ import annotations

import hashlib
import threading
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from penstock.item import Failure, Item, PhotoObject
from penstock.processes.child import Care
from penstock.stage import Batch, Stage, tuning
from penstock.stages.given import GivenBox, is_for

if TYPE_CHECKING:
    from penstock.engines.segment.saliency import SaliencySegmenter
    from penstock.engines.segment.segmenter import Found, Segmenter
    from penstock.item import Pixels

MASKS = "masks"


@dataclass(frozen=True, kw_only=True)
class Detect(Stage):
    """Gives photos their objects. `labels` empty means: what movers move.

    Models read English: other words go through the furniture table, and things keep the label asked for.
    """

    name: ClassVar[str] = "detect"
    reads: ClassVar[tuple[str, ...]] = ("pixels",)
    writes: ClassVar[tuple[str, ...]] = ("objects",)
    engine: str = "saliency"
    labels: tuple[str, ...] = ()
    min_score: float = 0.3
    model: str | None = None
    boxes: tuple[GivenBox, ...] = ()
    furniture: str | None = None
    batch: Batch = tuning(Batch(max_items=4))
    care: Care = tuning(Care(max_growth_mb=8000.0))  # torch on a GPU hoards; a fresh process does not

    def settings(self) -> dict[str, Any]:
        from penstock.photos.furniture import without_password

        return {**super().settings(), "furniture": without_password(self.furniture)}

    def open(self) -> _Detector:
        return _Detector(self)


class _Detector:
    def __init__(self, stage: Detect) -> None:
        self._stage = stage
        # every photo may have its boxes; weights of a model that nobody calls stay where they are
        self._labels = {} if _all_boxed(stage) else asked(stage.engine, stage.labels, stage.furniture)
        self._segmenter: Segmenter | None = None if _all_boxed(stage) else _open(stage, tuple(self._labels))
        self._in_boxes: SaliencySegmenter | None = None  # opened with the first box
        self._opening = threading.Lock()

    def __call__(self, items: list[Item]) -> list[Item]:
        given = {item.id: _given(self._stage.boxes, item) for item in items}
        seen = [item for item in items if not given[item.id] and item.pixels is not None]
        pictures = [item.pixels for item in seen if item.pixels is not None]
        found = self._segmenter.find(pictures) if self._segmenter and seen else [[] for _ in seen]
        by_id = {item.id: things for item, things in zip(seen, found, strict=True)}
        return [self._photo(item, given[item.id], by_id.get(item.id, [])) for item in items]

    def close(self) -> None:
        for engine in (self._segmenter, self._in_boxes):
            if engine is not None:
                engine.close()

    def _photo(self, item: Item, given: list[GivenBox], found: list[Found]) -> Item:
        if item.pixels is None:
            return item
        failed: list[PhotoObject] = []
        finder = self._stage.engine
        if given:
            finder = "given"
            found, failed = self._in_given(item.pixels, given)
        else:
            found = [replace(one, label=self._labels.get(one.label, one.label)) for one in found]
        objects, lost = _objects(item.pixels, found, finder)
        if given:  # what a model says twice is dropped; what a user says is not, without a word
            failed += [_covered(one) for one in lost]
        objects += failed
        return replace(item, objects=tuple(replace(o, index=n) for n, o in enumerate(objects)))

    def _in_given(self, pixels: Pixels, given: list[GivenBox]) -> tuple[list[Found], list[PhotoObject]]:
        from penstock.errors import ItemError
        from penstock.stages.parts import failure_of

        found, failed = [], []
        with self._opening:
            segmenter = self._in_boxes = self._in_boxes or _open_for_boxes(self._stage)
        for one in given:
            try:
                found.append(segmenter.in_box(pixels, one.box, one.label))
            except ItemError as exc:  # one box that is wrong costs only itself
                failed.append(_failed(one, failure_of(exc, self._stage.name)))
        return found, failed


def _given(boxes: tuple[GivenBox, ...], item: Item) -> list[GivenBox]:
    own = [GivenBox(item.id, thing.box, thing.label) for thing in item.objects]
    return [*(box for box in boxes if is_for(box, item)), *own]


def _failed(one: GivenBox, failure: Failure) -> PhotoObject:
    return PhotoObject(label=one.label, box=one.box, finder="given", failure=failure)


def _covered(one: Found) -> PhotoObject:
    failure = Failure(
        stage=Detect.name,
        kind="BadInput",
        message=f"The box of {one.label} has nothing of its own: other boxes cover it.",
        advice="Draw one box around each thing.",
    )
    return PhotoObject(label=one.label, box=one.box, finder="given", failure=failure)


def _objects(pixels: Pixels, found: list[Found], finder: str) -> tuple[list[PhotoObject], list[Found]]:
    """The things that stand, and those that others cover."""
    from penstock.photos import masks
    from penstock.photos.duplicates import look_of
    from penstock.photos.overlap import Claim, settle

    objects = []
    lost = dict(enumerate(found))
    for claim in settle([Claim(f.label, f.score, masks.cleaned(f.mask), n) for n, f in lost.items()]):
        box = masks.box_of(claim.mask)
        if box is None:
            continue
        del lost[claim.number]
        packed = masks.pack(claim.mask)
        objects.append(
            PhotoObject(
                label=claim.label,
                box=box,
                score=claim.score,
                finder=finder,
                mask=packed,
                mask_path=f"{MASKS}/{hashlib.sha256(packed).hexdigest()[:24]}.png",
                cut=tuple(sorted(masks.cut_sides(claim.mask))),
                look=look_of(pixels, claim.mask),
            )
        )
    return objects, list(lost.values())


def _all_boxed(stage: Detect) -> bool:
    return any(not box.photo for box in stage.boxes)


def asked(engine: str, labels: tuple[str, ...], furniture: str | None = None) -> dict[str, str]:
    """The words a detector is asked for, each with the label its things get. Raises UsageError."""
    from penstock.engines.segment.segmenter import CLOSED, LABELS
    from penstock.errors import UsageError
    from penstock.photos.furniture import UNKNOWN, Furniture

    table = Furniture.open(furniture)
    if engine in CLOSED:  # it says "couch" where "sofa" or "소파" is wanted
        kept = {word: label for label in labels for word in table.words(label)}
        return kept or {word: word for name in table.kinds if name != UNKNOWN for word in table.words(name)}
    if engine == "saliency":
        return {label: label for label in labels}
    words = {label: table.english(label) for label in labels or LABELS}
    for label, word in words.items():
        if word is None:
            raise UsageError(
                f"The detector {engine} reads English, and no English word for {label!r} is known.",
                "Write it in English, or add it to the synonyms of a --furniture table.",
            )
    return {word: label for label, word in words.items() if word is not None}


def _open(stage: Detect, words: tuple[str, ...]) -> Segmenter:
    from penstock.engines.segment.segmenter import Wanted, open_segmenter

    return open_segmenter(stage.engine, Wanted(words, stage.min_score, stage.model))


def _open_for_boxes(stage: Detect) -> SaliencySegmenter:
    from penstock.engines.segment.saliency import SaliencySegmenter
    from penstock.engines.segment.segmenter import Wanted

    return SaliencySegmenter(Wanted(stage.labels or ("object",)))
