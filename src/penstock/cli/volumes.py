"""`penstock volumes`: photos to things with dimensions, volumes and Gaussian clouds."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

from penstock.cli.options import (
    AsJson,
    Config,
    Cores,
    Executor,
    Fresh,
    Log,
    LogLevel,
    Quiet,
    Results,
    recipe_settings,
    words,
)
from penstock.cli.progress import progress
from penstock.redaction import SafeRepr

if TYPE_CHECKING:
    from penstock.driver import Run
    from penstock.exports.inventory import Inventory, InventoryLine
    from penstock.passes.photos import PhotoOptions
    from penstock.photo import Photo

BOX_HELP = "A thing's box in pixels and its label: x,y,w,h:chair or room.jpg=x,y,w,h:chair; repeatable."
DETECTOR_HELP = (
    "saliency (CPU, one thing a photo), nanodet (CPU, furniture by name), grounded (Grounding DINO + SAM 2),"
    " rfdetr, yoloe. Not given: grounded on a GPU, else nanodet if it was fetched, else saliency."
)
DEPTH_HELP = (
    "A photo's depth, FILE or room.jpg=FILE; .npy in metres or 16-bit PNG in millimetres; repeatable."
)
MOGE_HELP = "MoGe-2 weights, in the Python of --sam3d-python: metric depth, for either engine."
KNOWN_HELP = 'A size that you know, "table=140cm wide": the photo is measured by it; deep, high; repeatable.'
FURNITURE_HELP = (
    "Furniture table of your own: a CSV of sizes, an SQLite file (made when new) or postgresql:// URL."
)
EXPORT_HELP = "Files to write: objects, report, splat, turntable (GIFs, 1 s of a core an object)."


def _sam3d(help: str, **limits: Any) -> Any:
    return Option(help=f"sam3d: {help}", **limits)


def volumes(
    photos: Annotated[list[str], typer.Argument(help="Photos, folders or globs.", metavar="PHOTO...")],
    out: Results,
    box: Annotated[list[str] | None, Option(help=BOX_HELP)] = None,
    labels: Annotated[str | None, Option(help="What to look for: sofa,책장; furniture if not given.")] = None,
    detector: Annotated[str | None, Option(help=DETECTOR_HELP)] = None,
    model: Annotated[str | None, Option(help="Weights of the detector: a folder, file or hub name.")] = None,
    min_score: Annotated[
        float | None, Option(help="Leave out things found with a lower score.", min=0, max=1)
    ] = None,
    engine: Annotated[str | None, Option(help="silhouette (CPU, estimates) or sam3d (3D, a GPU).")] = None,
    camera_height: Annotated[float | None, Option(help="Metres above floor; found.", min=0.1, max=5)] = None,
    pitch: Annotated[
        float | None, Option(help="Degrees the camera looked down; found.", min=-60, max=85)
    ] = None,
    depth: Annotated[list[str] | None, Option(help=DEPTH_HELP)] = None,
    known: Annotated[list[str] | None, Option(help=KNOWN_HELP)] = None,
    furniture: Annotated[str | None, Option(help=FURNITURE_HELP)] = None,
    same_room: Annotated[bool, Option(help="One room: a thing in two photos counts once.")] = False,
    sam3d_python: Annotated[str | None, _sam3d("The Python of SAM-3D's own environment.")] = None,
    sam3d_config: Annotated[str | None, _sam3d("SAM-3D's pipeline.yaml, beside its weights.")] = None,
    moge: Annotated[str | None, Option(help=MOGE_HELP)] = None,
    floor_depth: Annotated[bool, _sam3d("Last resort: an empty room's depth, no model.")] = False,
    setting: Annotated[str | None, _sam3d("gaussian_4, gaussian (8 x larger), stage1 (size only).")] = None,
    stage1_steps: Annotated[int | None, _sam3d("Steps of the structure; 25.", min=1)] = None,
    stage2_steps: Annotated[int | None, _sam3d("Steps of the surface; 25.", min=1)] = None,
    mesh: Annotated[bool, _sam3d("Also a GLB mesh; a third more time.")] = False,
    texture: Annotated[bool, _sam3d("Bake textures; 30 to 60 s an object.")] = False,
    mesh_postprocess: Annotated[bool, _sam3d("Mend meshes; 20 to 40 s an object.")] = False,
    layout_postprocess: Annotated[bool, _sam3d("Refine poses; 2 to 5 s an object.")] = False,
    export: Annotated[str, Option(help=EXPORT_HELP)] = "objects,report",
    gpus: Annotated[int | None, Option(help="GPUs to use, a process each.", min=1)] = None,
    retry_failed: Annotated[bool, Option(help="Try failed photos and objects again.")] = False,
    fresh: Fresh = False,
    max_pixels: Annotated[int | None, Option(help="Refuse photos with more pixels.", min=1)] = None,
    page_timeout: Annotated[float | None, Option(help="Seconds until a photo is given up.", min=1)] = None,
    cores: Cores = None,
    executor: Executor = "local",
    config: Config = None,
    log: Log = None,
    log_level: LogLevel = "info",
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Measure the things in photos: W x D x H, volume, a Gaussian PLY and a report for customers."""
    settings = recipe_settings(
        detector=detector, model=model, min_score=min_score, engine=engine, camera_height=camera_height,
        pitch=pitch, furniture=furniture, gpus=gpus, page_timeout=page_timeout, max_pixels=max_pixels,
        cores=cores, labels=labels,
    )  # fmt: skip
    sam3d = sam3d_settings(
        python=sam3d_python, config=sam3d_config, moge=moge, floor_depth=floor_depth, setting=setting,
        stage1_steps=stage1_steps, stage2_steps=stage2_steps, with_mesh=mesh, with_texture=texture,
        with_mesh_postprocess=mesh_postprocess, with_layout_postprocess=layout_postprocess,
    )  # fmt: skip
    given = _TypedPhotos(photos, box, depth, known, settings, sam3d, same_room, executor, retry_failed, fresh)
    given.start(out, words(export), as_json=as_json, quiet=quiet)


def sam3d_settings(**given: Any) -> dict[str, Any]:
    """Options of SAM-3D that were given; what is on here was off."""
    return {name: value for name, value in given.items() if value}


@dataclass(frozen=True, slots=True)
class _TypedPhotos(SafeRepr):
    """The options of the command line that say what is measured, as they are typed."""

    photos: list[str]
    box: list[str] | None
    depth: list[str] | None
    known: list[str] | None
    settings: dict[str, Any]
    sam3d: dict[str, Any]
    same_room: bool
    executor: str
    retry_failed: bool
    fresh: bool

    def start(self, out: Path, formats: list[str], *, as_json: bool, quiet: bool) -> None:
        from penstock.exports.export import check_formats
        from penstock.passes.photos import photos_work
        from penstock.store.arrow import leave_pandas_out

        leave_pandas_out()
        check_formats(formats)
        work = photos_work(self._options(), out)
        work.finish(progress(quiet or as_json))
        for photo in work.missed:
            print(
                f"penstock: no photo is called {photo}: its --box, --depth or --known was not used.",
                file=sys.stderr,
            )
        _finish(work.run, formats, as_json, quiet)
        if work.missed:
            raise typer.Exit(1)

    def _options(self) -> PhotoOptions:
        from penstock.passes.photos import PhotoOptions

        return PhotoOptions(
            photos=tuple(self.photos),
            boxes=tuple(self.box or ()),
            depths=tuple(self.depth or ()),
            known=tuple(self.known or ()),
            settings=self.settings,
            sam3d=self.sam3d,
            same_room=self.same_room,
            executor=self.executor,
            retry_failed=self.retry_failed,
            fresh=self.fresh,
        )


def _finish(run: Run[Photo], formats: list[str], as_json: bool, quiet: bool) -> None:
    from penstock.exports.export import export
    from penstock.exports.inventory import failures, read_inventory
    from penstock.passes.photos import naming_advice
    from penstock.store.out import Out

    written = export(run.out, formats)
    out = Out(run.out)
    found = read_inventory(out, out.read_photos())
    if as_json:
        print(json.dumps(_summary(run, found, written), ensure_ascii=False))
    else:
        for name, reason in failures(found):
            print(f"failed: {name}: {reason}", file=sys.stderr)
        if not quiet:
            _tell(found, written, naming_advice(found, run.plan))
    if failures(found):  # also those of earlier runs: they are listed, and the totals lack them
        raise typer.Exit(1)


def _summary(run: Run[Photo], found: Inventory, written: list[Path]) -> dict[str, Any]:
    from penstock.exports.inventory import failures, handling, object_row

    return {
        "out": str(run.out),
        "photos": run.tally.done,
        "failed": run.tally.failed,
        "failed_objects": run.tally.failed_regions,
        "skipped": run.tally.skipped,
        "failures": [{"photo": name, "reason": reason} for name, reason in failures(found)],
        "objects": [object_row(line) for line in found.lines],
        "total_cbm": round(found.boxes.cbm, 3),
        "moving_cbm": round(found.moving.cbm, 3),
        "moving_range_cbm": [round(found.moving.low, 3), round(found.moving.high, 3)],
        **handling(found),
        "written": [str(path) for path in written],
    }


def _tell(found: Inventory, written: list[Path], naming: str) -> None:
    from rich.console import Console
    from rich.table import Table

    from penstock.exports.inventory import handling

    table = Table(box=None, pad_edge=False)
    for name in ("no.", "item", "photo", "W x D x H m", "m³", "ft³", "likely m³", "how"):
        table.add_column(name, justify="right" if name in ("no.", "m³", "ft³") else "left")
    for line in found.lines:
        table.add_row(*_cells(line))
    console = Console(width=None if sys.stdout.isatty() else 140, highlight=False)
    if found.lines:
        console.print(table)
    for photo in found.empty:
        advice = f"Nothing was found in {photo}: say where a thing is, by --box '{photo}=x,y,w,h:label'."
        console.print(advice, markup=False, soft_wrap=True)
    twice = [f"{line.number} like {line.looks_like}" for line in found.lines if line.looks_like]
    if twice:
        console.print(f"Counted twice? {', '.join(twice)}. If the photos show one room, add --same-room.")
    if naming:
        console.print(naming, markup=False, soft_wrap=True)
    console.print(_totals(found))
    plan = handling(found)
    if plan["truck"]:
        console.print(f"About {plan['weight_kg']} kg, {plan['cartons']} cartons, truck {plan['truck']}.")
    for path in written[:3]:
        console.print(f"  {path}", soft_wrap=True, markup=False)


def _totals(found: Inventory) -> str:
    from penstock.photos.furniture import FT3_PER_M3

    moving = found.moving
    if not any(line.counted for line in found.lines):
        return "Nothing was measured."
    unsure = ", unsure" if moving.is_unsure else ""
    return (
        f"To move: {moving.cbm:.2f} m³ ({moving.cbm * FT3_PER_M3:.0f} ft³),"
        f" likely {moving.low:.2f} to {moving.high:.2f} m³{unsure}; boxes as they stand"
        f" {found.boxes.cbm:.2f} m³."
    )


def _cells(line: InventoryLine) -> list[str]:
    from rich.markup import escape

    from penstock.exports.inventory import how_measured, likely, photo_name
    from penstock.photos.furniture import FT3_PER_M3

    thing = line.thing
    head = [str(line.number), escape(thing.label), escape(photo_name(line.item))]
    if thing.failure is not None:
        return [*head, "failed", "", "", "", ""]
    if thing.size is None or thing.bbox_cbm is None:
        return [*head, "", "", "", "", ""]
    size = " x ".join(f"{side:.2f}" for side in thing.size)
    volume = [f"{thing.bbox_cbm:.2f}", f"{thing.bbox_cbm * FT3_PER_M3:.1f}", likely(thing)]
    return [*head, size, *volume, how_measured(line)]
