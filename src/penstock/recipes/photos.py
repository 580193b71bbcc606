"""Photos to measured things: detect and outline, reconstruct, measure."""

from __future__ import annotations

import importlib.util

from penstock.choices import check_choice
from penstock.engines.mesh.request import MeshOptions
from penstock.engines.weights.registry import MODELS, look
from penstock.errors import UsageError
from penstock.photos.furniture import Furniture
from penstock.photos.user_boxes import GivenBox, GivenDepth, KnownSize
from penstock.plan import Plan
from penstock.plugins import installed
from penstock.processes.resources import cores as usable_cores
from penstock.processes.resources import visible_gpus
from penstock.stage import Batch, Needs
from penstock.stages.detect import Detect
from penstock.stages.load import MAX_PIXELS, Load
from penstock.stages.measure import Measure
from penstock.stages.reconstruct import Reconstruct
from penstock.workers.detector_words import detector_words

DETECTORS = ("saliency", "nanodet", "grounded", "rfdetr", "yoloe")
BUILDERS = ("silhouette", "sam3d")
ON_GPU = frozenset({"grounded", "rfdetr", "yoloe"})


def photos(
    detector: str | None = None,
    engine: str = "silhouette",
    labels: tuple[str, ...] = (),
    boxes: tuple[GivenBox, ...] = (),
    min_score: float = 0.3,
    model: str | None = None,
    camera_height: float | None = None,
    pitch: float | None = None,
    depths: tuple[GivenDepth, ...] = (),
    known: tuple[KnownSize, ...] = (),
    furniture: str | None = None,
    max_pixels: int = MAX_PIXELS,
    page_timeout: float = 120.0,
    gpus: int | None = None,
    mesh: MeshOptions | None = None,
    cores: int | None = None,
) -> Plan:
    """Things with W x D x H, volume and a Gaussian cloud, one row a photo.

    Detectors that want a GPU get a process each, pinned to one. More photos are in flight than the pool has.
    """
    detector = detector or _usual_detector()
    table = _check_words(detector, engine, labels, boxes, furniture)
    count, on_gpu = cores or usable_cores(), detector in ON_GPU
    num_gpus = gpus or len(visible_gpus()) or 1
    pool_size = num_gpus if engine == "sam3d" else count
    return Plan(
        Load(text_layer=False, max_pixels=max_pixels, deadline_s=page_timeout, workers=max(1, count // 2)),
        Detect(
            engine=detector,
            labels=labels,
            outlines="mobile-sam" if has_mobile_sam() else "colour",
            boxes=boxes,
            min_score=min_score,
            model=model,
            furniture=furniture,
            needs=Needs(gpus=1, process=True) if on_gpu else Needs(),
            workers=num_gpus if on_gpu else 1,
            overlap=1 if on_gpu else count,
            batch=Batch(max_items=8, linger_ms=20) if on_gpu else Batch(),
            deadline_s=page_timeout,
        ),
        Reconstruct(
            engine=engine,
            camera_height=camera_height,
            pitch=pitch,
            depths=depths,
            known=known,
            furniture=furniture,
            mesh=mesh,
            pool_size=pool_size,
            overlap=pool_size + 2,
        ),
        Measure(furniture=furniture, table=table.digest() if furniture else None, workers=1),
        name="photos",
    )


def _usual_detector() -> str:
    """Words and many things where a GPU and its packages are; on a CPU what its weights are there for."""
    if visible_gpus() and all(importlib.util.find_spec(name) for name in ("torch", "transformers")):
        return "grounded"
    return "nanodet" if has_nanodet() else "saliency"


def has_nanodet() -> bool:
    """Returns whether NanoDet's weights are there: 144 MB are only fetched by `penstock models fetch`."""
    return look(MODELS["nanodet"]).state == "ready"


def has_mobile_sam() -> bool:
    """Returns whether MobileSAM's weights are there: 41 MB are only fetched by `penstock models fetch`."""
    return look(MODELS["mobile-sam"]).state == "ready"


def _check_words(
    detector: str, engine: str, labels: tuple[str, ...], boxes: tuple[GivenBox, ...], furniture: str | None
) -> Furniture:
    """Returns the furniture table. Raises UsageError for what would go wrong later."""
    detectors = DETECTORS if detector in DETECTORS else (*DETECTORS, *installed("segmenters"))
    for option, word, words in (("--detector", detector, detectors), ("--engine", engine, BUILDERS)):
        check_choice(option, word, words)
    table = Furniture.open(furniture)  # made here where it is new, before three stages want it at once
    if any(not box.photo for box in boxes):
        return table  # nothing is looked for
    if detector == "saliency" and len(labels) > 1:
        raise UsageError(
            f"The detector saliency outlines one thing a photo and cannot tell {' from '.join(labels[:2])}.",
            "Give one label, a --box for each thing, or --detector nanodet.",
        )
    detector_words(detector, labels, furniture)
    return table
