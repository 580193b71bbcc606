"""GLM-OCR's recipe for made-up pages: the boxes they were drawn with, and answers of drawn lengths.

    penstock run pages PAGES --recipe benchmarks.lib.known_recipe:glm_ocr_known --ocr-model FOLDER

A model with random weights finds no regions and never ends an answer. So the boxes are put in place of the
layout network's, and each request says how long its answer is. All else is the recipe's own.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

from benchmarks.lib.answer_lengths import length_of
from benchmarks.lib.bare_load import SAMPLING
from benchmarks.lib.known_pages import KnownBoxes, ScaledCropRegions
from penstock.engines.chat import recognisers
from penstock.plan import Plan
from penstock.recipes.regions import glm_ocr
from penstock.stage import Stage
from penstock.stages.crop_regions import CropRegions
from penstock.stages.doclayout import MODEL, DocLayout
from penstock.stages.recognise_remote import RecogniseRemote
from penstock.workers import recognise_remote

LAYOUT_MODEL = os.environ.get("KNOWN_LAYOUT_MODEL", "")  # a folder; else no layout network is run
BENCH = replace(
    recognisers.RECOGNISERS["glm-ocr"],
    name="bench",
    sampling=SAMPLING,
    grow=1,
    watch_loops=False,
    stream_above=1 << 30,
)
recognisers.RECOGNISERS = {**recognisers.RECOGNISERS, "bench": BENCH}
recognise_remote.token_budget = lambda task, width, height, max_tokens: length_of(width, height)


def glm_ocr_known(
    server: tuple[str, ...] = (), model: str = "", in_flight: int = 0, crops: bool = True
) -> Plan:
    """The recipe `glm-ocr` with the layout network's place taken by the boxes that are known."""
    recipe = glm_ocr(server=server, model=model, in_flight=in_flight, crops=crops, layout="pp-doclayoutv3")
    return Plan(*(_known(stage) for stage in recipe), name="glm-ocr-known")


def glm_ocr_known_full(
    server: tuple[str, ...] = (), model: str = "", in_flight: int = 0, layout_model: str = LAYOUT_MODEL
) -> Plan:
    """The same with crops at full size, and the layout network run for its time where a model is named."""
    recipe = _with_network(server, model, in_flight, layout_model)
    stages: list[Stage] = []
    for stage in recipe:
        if isinstance(stage, DocLayout) and layout_model:
            stages.append(stage)
        known = _known(stage)
        if isinstance(known, CropRegions):
            known = ScaledCropRegions(scale=1.0, needs=stage.needs, workers=stage.workers)
        stages.append(known)
    return Plan(*stages, name="glm-ocr-known-full")


def glm_ocr_real_layout(
    server: tuple[str, ...] = (), model: str = "", in_flight: int = 0, layout_model: str = LAYOUT_MODEL
) -> Plan:
    """The recipe `glm-ocr` with the layout network's real weights, for real pages: only lengths are drawn."""
    recipe = _with_network(server, model, in_flight, layout_model)
    stages = (_of_drawn_length(stage) for stage in recipe)
    return Plan(*stages, name="glm-ocr-real-layout")


def _with_network(server: tuple[str, ...], model: str, in_flight: int, layout_model: str) -> Plan:
    network = layout_model or MODEL
    return glm_ocr(
        server=server, model=model, in_flight=in_flight, layout="pp-doclayoutv3", layout_model=network
    )


def _known(stage: Stage) -> Stage:
    if isinstance(stage, DocLayout):
        return KnownBoxes()
    if isinstance(stage, CropRegions):
        return replace(stage, margins="drop")
    return _of_drawn_length(stage)


def _of_drawn_length(stage: Stage) -> Stage:
    return replace(stage, recogniser="bench") if isinstance(stage, RecogniseRemote) else stage


__all__: list[Any] = ["glm_ocr_known", "glm_ocr_known_full", "glm_ocr_real_layout"]
