"""The options of `penstock.Client` as editors complete them. The service says which of them it takes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict

from penstock.options.typed import ParseSettings

Given = str | Path | bytes | tuple[str, bytes]  # a file: its path, its bytes, or a name and its bytes


class ServiceParseSettings(ParseSettings, total=False):
    """Options of the recipes for pages, and of one job."""

    pages: str
    max_pages: int
    callback: str


class ServicePhotoSettings(TypedDict, total=False):
    """How photos are measured. A test compares these with what a service takes."""

    boxes: Sequence[str]
    same_room: bool
    labels: Sequence[str]
    camera_height: float
    pitch: float
    min_score: float
    known: Sequence[str]
    detector: str
    engine: str
    setting: str
    stage1_steps: int
    stage2_steps: int
    floor_depth: bool
    mesh: bool
    texture: bool
    mesh_postprocess: bool
    layout_postprocess: bool
    depths: Given | Sequence[Given]
    furniture: Given
    callback: str
