"""Boxes that someone draws on a photo that was measured: with the things it has they are its job's boxes.

A photo with boxes is measured by them alone, so what a model had found there becomes boxes, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from penstock.errors import UsageError
from penstock.passes.photo_words import parse_box
from penstock.photo import Photo
from penstock.photos.user_boxes import GivenBox, is_for

MAX_BOXES = 1000  # of a job, as a request may have


def with_drawn(options: Mapping[str, Any], photo: Photo, drawn: Sequence[GivenBox]) -> dict[str, Any]:
    """Returns a job's options with boxes for one of its photos. Raises UsageError for wrong boxes."""
    before = list(options.get("boxes", ()))
    if not any(is_for(parse_box(text), photo) for text in before):
        before += [_text(photo, thing.label, thing.box) for thing in photo.objects]
    boxes = [*before, *(_text(photo, one.label, one.box) for one in drawn)]
    if len(boxes) > MAX_BOXES:
        raise UsageError(f"A job may have {MAX_BOXES} boxes at most.")
    for text in boxes:
        parse_box(text)
    return {**options, "boxes": boxes}


def _text(photo: Photo, label: str, box: tuple[float, float, float, float]) -> str:
    # an equals sign parts the photo's name from its box
    return str(GivenBox(photo.id, box, " ".join(label.replace("=", " ").split()) or "thing"))
