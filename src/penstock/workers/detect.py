"""Finds and outlines the things of photos, with a detector or inside the boxes a user gave."""

from __future__ import annotations

import threading
from dataclasses import replace

from penstock.box import Pixels
from penstock.engines.segment.saliency import SaliencySegmenter
from penstock.engines.segment.segmenter import FoundThing, Segmenter, SegmenterOptions, open_segmenter
from penstock.errors import Failure, ItemError
from penstock.photo import Photo, PhotoObject
from penstock.photos import masks, notes
from penstock.photos.duplicates import colour_histogram
from penstock.photos.overlap import Claim, settle
from penstock.photos.user_boxes import GivenBox, is_for
from penstock.processes.part_pool import failure_of
from penstock.region import asset
from penstock.stage import Worker
from penstock.stages.detect import Detect
from penstock.workers.detector_words import detector_words

MASKS = "masks"
GIVEN = "given"  # the finder of what a user drew a box around
FEW_WORDS = frozenset({"nanodet"})
MOBILE_SAM = "mobile-sam"


class DetectWorker(Worker[Photo]):
    def __init__(self, stage: Detect) -> None:
        self._stage = stage
        # every photo may have its boxes; weights of a model that nobody calls stay where they are
        self._labels = (
            {} if _all_boxed(stage) else detector_words(stage.engine, stage.labels, stage.furniture)
        )
        self._segmenter: Segmenter | None = None if _all_boxed(stage) else _open(stage, tuple(self._labels))
        self._in_boxes: SaliencySegmenter | None = None  # opened with the first box
        self._opening = threading.Lock()

    def __call__(self, items: list[Photo]) -> list[Photo]:
        given = {photo.id: _given(self._stage.boxes, photo) for photo in items}
        seen = [photo for photo in items if not given[photo.id] and photo.pixels is not None]
        pictures = [photo.pixels for photo in seen if photo.pixels is not None]
        found = self._segmenter.find(pictures) if self._segmenter and seen else [[] for _ in seen]
        by_id = {photo.id: things or self._salient(photo) for photo, things in zip(seen, found, strict=True)}
        return [self._photo(photo, given[photo.id], by_id.get(photo.id, [])) for photo in items]

    def close(self) -> None:
        for engine in (self._segmenter, self._in_boxes):
            if engine is not None:
                engine.close()

    def _photo(self, photo: Photo, given: list[GivenBox], found: list[FoundThing]) -> Photo:
        if photo.pixels is None:
            return photo
        failed: list[PhotoObject] = []
        finder = self._stage.engine
        if given:
            finder = GIVEN
            found, failed = self._in_given(photo.pixels, given)
        else:
            found = [replace(one, label=self._labels.get(one.label, one.label)) for one in found]
        objects, lost = _objects(photo.pixels, found, finder)
        if given:  # what a model says twice is dropped; what a user says is not, without a word
            failed += [_covered(one) for one in lost]
        objects += failed
        return replace(photo, objects=tuple(replace(o, index=n) for n, o in enumerate(objects)))

    def _salient(self, photo: Photo) -> list[FoundThing]:
        """Returns the one prominent thing where a detector that knows few words saw none of them.

        With labels it is left out: the detector looked for these and saw none.
        """
        if self._stage.engine not in FEW_WORDS or self._stage.labels or photo.pixels is None:
            return []
        with self._opening:
            segmenter = self._in_boxes = self._in_boxes or _open_for_boxes(self._stage)
        return [replace(one, finder="saliency") for one in segmenter.find([photo.pixels])[0]]

    def _in_given(self, pixels: Pixels, given: list[GivenBox]) -> tuple[list[FoundThing], list[PhotoObject]]:
        found, failed = [], []
        with self._opening:
            segmenter = self._in_boxes = self._in_boxes or _open_for_boxes(self._stage)
        for one in given:
            try:
                found.append(segmenter.in_box(pixels, one.box, one.label))
            except ItemError as exc:  # one box that is wrong costs only itself
                failed.append(_failed(one, failure_of(exc, self._stage.name)))
        return found, failed


def _given(boxes: tuple[GivenBox, ...], photo: Photo) -> list[GivenBox]:
    own = [GivenBox(photo.id, thing.box, thing.label) for thing in photo.objects]
    return [*(box for box in boxes if is_for(box, photo)), *own]


def _failed(one: GivenBox, failure: Failure) -> PhotoObject:
    return PhotoObject(label=one.label, box=one.box, finder=GIVEN, failure=failure)


def _covered(one: FoundThing) -> PhotoObject:
    failure = Failure(
        stage="detect",
        kind="BadInput",
        message=f"The box of {one.label} has nothing of its own: other boxes cover it.",
        advice="Draw one box around each thing.",
    )
    return PhotoObject(label=one.label, box=one.box, finder=GIVEN, failure=failure)


def _objects(
    pixels: Pixels, found: list[FoundThing], finder: str
) -> tuple[list[PhotoObject], list[FoundThing]]:
    """The things in view, and those that others cover."""
    objects = []
    lost = dict(enumerate(found))
    claims = [Claim(f.label, f.score, masks.cleaned(f.mask), n, f.outlined) for n, f in lost.items()]
    for claim in settle(claims, by_user=finder == GIVEN):
        box = masks.box_of(claim.mask)
        if box is None:
            continue
        one = lost.pop(claim.number)
        packed = masks.pack(claim.mask)
        objects.append(
            PhotoObject(
                label=claim.label,
                box=box,
                score=claim.score,
                finder=one.finder or finder,
                mask=packed,
                mask_path=asset(MASKS, packed, "png").path,
                cut=tuple(sorted(masks.cut_sides(claim.mask))),
                colour_histogram=colour_histogram(pixels, claim.mask),
                measurement_notes=_notes(claim),
            )
        )
    return objects, list(lost.values())


def _notes(claim: Claim) -> tuple[str, ...]:
    box_taken = () if claim.outlined else (notes.BOX_TAKEN,)
    return (*box_taken, notes.FOUND_TWICE) if claim.repeats else box_taken


def _all_boxed(stage: Detect) -> bool:
    return any(not box.photo for box in stage.boxes)


def _open(stage: Detect, words: tuple[str, ...]) -> Segmenter:
    with_sam = stage.outlines == MOBILE_SAM
    return open_segmenter(
        stage.engine, SegmenterOptions(words, stage.min_score, stage.model, with_sam=with_sam)
    )


def _open_for_boxes(stage: Detect) -> SaliencySegmenter:
    with_sam = stage.outlines == MOBILE_SAM
    return SaliencySegmenter(SegmenterOptions(stage.labels or ("object",), with_sam=with_sam))
