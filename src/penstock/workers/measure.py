"""Measures the clouds of photos' objects."""

from __future__ import annotations

from dataclasses import replace

from penstock.errors import ItemError
from penstock.extras import need_extra
from penstock.photo import Photo, PhotoObject
from penstock.photos import notes
from penstock.photos.furniture import Furniture
from penstock.photos.ply import read_ply
from penstock.photos.volumes import Volume, measure
from penstock.processes.part_pool import failure_of
from penstock.stage import Worker
from penstock.stages.measure import Measure

# 10 % of scale is 30 % of volume: what a metric depth map leaves (reference: 22 % median, 52 % at p90)
METRIC_RANGE = (0.75, 1.35)
AT_ODDS = 1.5  # times outside of what photo and class allow, a reconstruction is not believed


class MeasureWorker(Worker[Photo]):
    def __init__(self, stage: Measure) -> None:
        need_extra("photos", "Measuring")
        self._furniture = Furniture.open(stage.furniture)

    def __call__(self, items: list[Photo]) -> list[Photo]:
        return [
            replace(photo, objects=tuple(self._measured(thing) for thing in photo.objects)) for photo in items
        ]

    def close(self) -> None:
        pass

    def _measured(self, thing: PhotoObject) -> PhotoObject:
        if thing.failure is not None or thing.cloud is None:
            return thing
        try:
            volume = measure(read_ply(thing.cloud))
        except ItemError as exc:
            return replace(thing, failure=failure_of(exc, "measure"))
        thing = _with_prior(thing, volume) if thing.estimate == "prior" else _with_volume(thing, volume)
        kind = self._furniture.find(thing.label)
        assert thing.bbox_cbm is not None
        moving = thing.bbox_cbm * kind.packing if kind.movable else 0.0
        return replace(thing, kind=kind.name, movable=kind.movable, moving_cbm=moving)


def _with_prior(thing: PhotoObject, volume: Volume) -> PhotoObject:
    """The size stays the estimate's; the cloud only tells how full the box is."""
    assert thing.size is not None
    width, depth, height = thing.size
    bbox = width * depth * height
    scale = bbox / volume.bbox_cbm
    return replace(
        thing, bbox_cbm=bbox, hull_cbm=volume.hull_cbm * scale, occupied_cbm=volume.occupied_cbm * scale
    )


def _with_volume(thing: PhotoObject, volume: Volume) -> PhotoObject:
    low, high = METRIC_RANGE[0] * volume.bbox_cbm, METRIC_RANGE[1] * volume.bbox_cbm
    words = thing.measurement_notes
    if thing.low_cbm and thing.high_cbm:
        if thing.estimate == "anchored":
            middle = (thing.low_cbm * thing.high_cbm) ** 0.5
            low, high = (volume.bbox_cbm * end / middle for end in (thing.low_cbm, thing.high_cbm))
        elif notes.AT_ODDS in words or not (
            thing.low_cbm / AT_ODDS < volume.bbox_cbm < thing.high_cbm * AT_ODDS
        ):
            # nobody signs it: the range holds what the photo and the class say too
            low, high = min(low, thing.low_cbm), max(high, thing.high_cbm)
            words = tuple(dict.fromkeys((*words, notes.AT_ODDS)))
    note = thing.note if volume.agrees else f"{thing.note} Turned boxes differ: check its size.".strip()
    return replace(
        thing,
        size=(volume.width, volume.depth, volume.height),
        bbox_cbm=volume.bbox_cbm,
        low_cbm=low,
        high_cbm=high,
        hull_cbm=volume.hull_cbm,
        occupied_cbm=volume.occupied_cbm,
        measurement_notes=words,
        note=note,
    )
