"""Photos to measured things: what a user says of photos, the run, and what came of it."""

from __future__ import annotations

import glob
from collections.abc import Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, cast

from penstock import recipes, sources
from penstock.choices import check_choice
from penstock.driver import Run
from penstock.engines.mesh.request import SMALLER, MeshOptions
from penstock.engines.mesh.shape_cache import UNFINISHED, forget
from penstock.errors import UsageError
from penstock.executors import make_executor
from penstock.executors.local import Local
from penstock.exports.box_history import given_object, with_boxes
from penstock.exports.inventory import Inventory
from penstock.options.option import values_of
from penstock.options.photos import PHOTO_READING, SAID, SAME_ROOM
from penstock.options.running import EXECUTOR, FRESH, RETRY_FAILED
from penstock.passes.parse import downloads_of
from penstock.passes.prepared_run import PreparedRun, Showing
from penstock.photo import Photo
from penstock.photos.furniture import UNKNOWN
from penstock.photos.user_boxes import GivenBox, GivenDepth, KnownSize, is_for
from penstock.plan import Plan
from penstock.recipes.photos import has_nanodet
from penstock.redaction import SafeRepr
from penstock.stages.detect import Detect
from penstock.stages.reconstruct import Reconstruct
from penstock.store.out import Out
from penstock.store.schema import PHOTOS
from penstock.trace.profile import Profile
from penstock.trace.spans import Trace

SAM3D_STALL_S = 6 * 3600.0  # a photo of 40 objects on one GPU takes its time; each has a deadline
SAM3D_SETTINGS = tuple(dict.fromkeys([*SMALLER, *SMALLER.values()]))
UNNAMED = (
    "Things called object are what stands out in a photo, of no known kind. Draw a --box around each thing."
)
FETCH_DETECTOR = "`penstock models fetch nanodet` (144 MB) brings a detector that names furniture on a CPU."
CHOOSE_DETECTOR = "--detector nanodet names furniture on a CPU."
PhotoStream = Generator[Photo, None, None]
OF_A_RUN = frozenset(one.name for one in (*SAID, SAME_ROOM, EXECUTOR, RETRY_FAILED, FRESH))
MESH_NAMES = frozenset(field.name for field in fields(MeshOptions))


@dataclass(frozen=True, slots=True, kw_only=True)
class PhotoOptions(SafeRepr):
    """What to measure and how.

    `settings` are the recipe's own options, `sam3d` those of `MeshOptions`.
    """

    photos: tuple[str, ...]
    boxes: tuple[GivenBox, ...] = ()
    depths: tuple[GivenDepth, ...] = ()
    known: tuple[KnownSize, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    sam3d: Mapping[str, Any] = field(default_factory=dict)
    same_room: bool = SAME_ROOM.default  # a thing in two photos counts once
    executor: str = EXECUTOR.default
    retry_failed: bool = RETRY_FAILED.default
    fresh: bool = FRESH.default

    @property
    def uses_sam3d(self) -> bool:
        return self.settings.get("engine") == "sam3d"

    def plan(self) -> Plan:
        """Raises UsageError for what is not known or does not fit."""
        settings = dict(self.settings)
        if self.boxes:
            settings["boxes"] = tuple(box for box in self.boxes if not box.photo)
        if self.depths:
            settings["depths"] = self.depths
        if self.known:
            settings["known"] = self.known
        if self.uses_sam3d or ("moge" in self.sam3d and set(self.sam3d) <= {"moge", "python"}):
            settings["mesh"] = _mesh_options(self.sam3d)
        elif self.sam3d:
            raise UsageError("SAM-3D's options need its engine.", "Add --engine sam3d.")
        plan = recipes.build("photos", settings)
        self._check_labels(plan)
        return plan

    def _check_labels(self, plan: Plan) -> None:
        """Raises UsageError where one label would name whatever stands out in each of several photos."""
        detect = next(stage for stage in plan if isinstance(stage, Detect))
        is_one = (
            len(self.photos) == 1 and not Path(self.photos[0]).is_dir() and not glob.has_magic(self.photos[0])
        )
        if detect.engine == "saliency" and detect.labels and not detect.boxes and not is_one:
            raise UsageError(
                f"The detector saliency sees no names: a thing of every photo would be a {detect.labels[0]}.",
                "Give one photo with --labels, a --box for each thing, or --detector nanodet.",
            )


def typed_options(photos: tuple[str, ...], given: Mapping[str, Any]) -> PhotoOptions:
    """Returns the options of a run from a program's. Raises UsageError for text where a value belongs."""
    of_run = {name: value for name, value in given.items() if name in OF_A_RUN}
    own = {name: value for name, value in given.items() if name not in OF_A_RUN}
    for name, kind in (("boxes", GivenBox), ("depths", GivenDepth), ("known", KnownSize)):
        of_run[name] = tuple(of_run.get(name, ()))
        if not all(isinstance(one, kind) for one in of_run[name]):
            raise UsageError(f"`{name}` takes values of penstock.{kind.__name__}.", "Text is for the shell.")
    return PhotoOptions(photos=photos, settings={**own, **values_of(PHOTO_READING, own)}, **of_run)


class PreparedPhotos(PreparedRun[Photo]):
    """A run over photos that knows which named photos never came."""

    def __init__(self, run: Run[Photo], photos: Iterator[Photo], boxes: tuple[GivenBox, ...]) -> None:
        self._awaited = {one.photo: one for one in (*boxes, *_given_for(run.plan)) if one.photo}
        own = [box for box in boxes if box.photo]
        super().__init__(run, with_boxes(Out(run.out), self._watched(photos), own), ahead=True)

    def finish(self, showing: Showing | None = None) -> Profile:
        profile = super().finish(showing)
        done = [entry.id for entry in Out(self.run.out).photos.entries().values() if not entry.incomplete]
        forget(self.run.out, done)
        return profile

    @property
    def missed(self) -> list[str]:
        """Names of photos that a box, a depth map or a size is for, and no photo has."""
        return list(self._awaited)

    def _watched(self, photos: Iterator[Photo]) -> Iterator[Photo]:
        for photo in photos:
            for name in [name for name, one in self._awaited.items() if is_for(one, photo)]:
                del self._awaited[name]
            yield photo


def photos_work(options: PhotoOptions, out: Path) -> PreparedPhotos:
    """Returns the run that measures `options.photos` into OUT. Raises UsageError before it begins."""
    trace = Trace()
    executor = make_executor(options.executor, trace)
    if options.uses_sam3d and isinstance(executor, Local):
        executor = Local(trace, stall_s=SAM3D_STALL_S)
    run = Run(
        keeping_shapes(options.plan(), out),
        executor,
        out,
        PHOTOS,
        retry_failed=options.retry_failed,
        fresh=options.fresh,
        facts={"inputs": list(options.photos), "same_room": options.same_room},
    )
    listing = sources.list_items(
        options.photos, Photo, downloads=downloads_of(out, options.photos, options.fresh)
    )
    return PreparedPhotos(run, listing, options.boxes)


def keeping_shapes(plan: Plan, out: Path) -> Plan:
    """The plan, whose 3D shapes are kept below OUT until their photo is done."""
    kept = str(out / UNFINISHED)
    stages = [
        replace(stage, kept=kept) if isinstance(stage, Reconstruct) and stage.engine == "sam3d" else stage
        for stage in plan
    ]
    return Plan(*stages, name=plan.name, notes=plan.notes)


def photos_stream(options: PhotoOptions) -> PhotoStream:
    """The photos as they are measured; nothing is kept."""
    named = [box for box in options.boxes if box.photo]
    photos = (_with_given(photo, named) for photo in sources.list_items(options.photos, Photo))
    stream = make_executor(options.executor, Trace()).stream(options.plan(), photos)
    return cast(PhotoStream, stream)  # an executor gives back what it was given


def _with_given(photo: Photo, boxes: Iterable[GivenBox]) -> Photo:
    own = [box for box in boxes if is_for(box, photo)]
    return replace(photo, objects=tuple(given_object(box) for box in own))


def naming_advice(found: Inventory, plan: Plan) -> str:
    """Returns what helps where things have no name, or nothing where all have one."""
    if not any(line.thing.finder == "saliency" and line.thing.label == UNKNOWN for line in found.lines):
        return ""
    if any(isinstance(stage, Detect) and stage.engine != "saliency" for stage in plan):
        return UNNAMED  # the detector looked, and saw nothing that it knows
    return f"{UNNAMED} {CHOOSE_DETECTOR if has_nanodet() else FETCH_DETECTOR}"


def _given_for(plan: Plan) -> tuple[GivenDepth | KnownSize, ...]:
    stages = [stage for stage in plan if isinstance(stage, Reconstruct)]
    depths = [one for stage in stages for one in stage.depths]
    return (*depths, *(one for stage in stages for one in stage.known))


def _mesh_options(given: Mapping[str, Any]) -> MeshOptions:
    unknown = sorted(set(given) - MESH_NAMES)
    if unknown:
        raise UsageError(f"SAM-3D has no option {unknown[0]!r}.")
    check_choice("--setting", given.get("setting", SAM3D_SETTINGS[0]), SAM3D_SETTINGS)
    return MeshOptions(**given)
