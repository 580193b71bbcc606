"""`penstock volumes`: photos to things with dimensions, volumes and Gaussian clouds."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from penstock.cli.options import AsJson, Config, Log, Quiet, words
from penstock.errors import UsageError

if TYPE_CHECKING:
    from penstock.driver import Run
    from penstock.item import Item
    from penstock.stages.detect import GivenBox
    from penstock.store.inventory import Inventory, Line

SAM3D_STALL_S = 6 * 3600.0  # a photo of 40 objects on one GPU takes its time; each has a deadline


def volumes(
    photos: Annotated[list[str], typer.Argument(help="Photos, folders or globs.", metavar="PHOTO...")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the results; a run there is resumed.")],
    box: Annotated[
        list[str] | None,
        typer.Option(
            help="A thing's box in pixels and its label, x,y,w,h:chair or room.jpg=x,y,w,h:chair; repeatable."
        ),
    ] = None,
    labels: Annotated[
        str | None,
        typer.Option(help="What to look for, comma-separated: sofa,책장; furniture when not given."),
    ] = None,
    detector: Annotated[
        str | None,
        typer.Option(
            help="saliency (CPU, one thing a photo), grounded (Grounding DINO + SAM 2), rfdetr, yoloe."
        ),
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="Weights of the detector: a folder, file or hub name.")
    ] = None,
    min_score: Annotated[
        float | None, typer.Option(help="Drop what is less sure than this.", min=0, max=1)
    ] = None,
    engine: Annotated[
        str | None,
        typer.Option(
            help="silhouette (CPU, estimates), or sam3d (3D; needs its own installation and a GPU)."
        ),
    ] = None,
    camera_height: Annotated[
        float | None, typer.Option(help="Metres from floor to camera; 1.45 when not given.", min=0.1, max=5)
    ] = None,
    pitch: Annotated[
        float | None,
        typer.Option(help="Degrees the camera looked down; found from upright edges when not given."),
    ] = None,
    depth: Annotated[
        Path | None, typer.Option(help="Depth map of the photo: .npy in metres or 16-bit PNG in millimetres.")
    ] = None,
    furniture: Annotated[
        str | None,
        typer.Option(
            help="Furniture table of your own: an SQLite file (made when new) or postgresql:// URL."
        ),
    ] = None,
    same_room: Annotated[
        bool, typer.Option("--same-room", help="The photos show one room: count a thing in two of them once.")
    ] = False,
    sam3d_python: Annotated[
        str | None, typer.Option(help="The Python of SAM-3D's own environment.", rich_help_panel="SAM-3D")
    ] = None,
    sam3d_config: Annotated[
        str | None, typer.Option(help="SAM-3D's pipeline.yaml, beside its weights.", rich_help_panel="SAM-3D")
    ] = None,
    moge: Annotated[
        str | None,
        typer.Option(
            help="MoGe-2 weights in that environment: metric scale, one depth map a photo.",
            rich_help_panel="SAM-3D",
        ),
    ] = None,
    setting: Annotated[
        str | None,
        typer.Option(
            help="gaussian_4, gaussian (8 x larger), or stage1 (size only).", rich_help_panel="SAM-3D"
        ),
    ] = None,
    stage1_steps: Annotated[
        int | None,
        typer.Option(help="Steps of the structure; 25 by default.", min=1, rich_help_panel="SAM-3D"),
    ] = None,
    stage2_steps: Annotated[
        int | None, typer.Option(help="Steps of the surface; 25 by default.", min=1, rich_help_panel="SAM-3D")
    ] = None,
    mesh: Annotated[
        bool, typer.Option("--mesh", help="Also a GLB mesh; a third more time.", rich_help_panel="SAM-3D")
    ] = False,
    texture: Annotated[
        bool, typer.Option("--texture", help="Bake textures; 30 to 60 s an object.", rich_help_panel="SAM-3D")
    ] = False,
    mesh_postprocess: Annotated[
        bool,
        typer.Option(
            "--mesh-postprocess", help="Mend meshes; 20 to 40 s an object.", rich_help_panel="SAM-3D"
        ),
    ] = False,
    layout_postprocess: Annotated[
        bool,
        typer.Option(
            "--layout-postprocess", help="Refine poses; 2 to 5 s an object.", rich_help_panel="SAM-3D"
        ),
    ] = False,
    export: Annotated[
        str, typer.Option(help="Files to write: objects, report, splat, turntable (a GIF, 2 s an object).")
    ] = "objects,report",
    gpus: Annotated[int | None, typer.Option(help="GPUs to use, a process each.", min=1)] = None,
    retry_failed: Annotated[bool, typer.Option(help="Try failed photos and objects again.")] = False,
    fresh: Annotated[bool, typer.Option(help="Forget what OUT holds and start over.")] = False,
    page_timeout: Annotated[
        float | None, typer.Option(help="Seconds after which a photo that is being read is given up.", min=1)
    ] = None,
    cores: Annotated[int | None, typer.Option(help="CPU cores to use; all when not given.", min=1)] = None,
    executor: Annotated[str, typer.Option(help="local, or inline for debugging.")] = "local",
    config: Config = None,
    log: Log = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Measure the things in photos: W x D x H, volume, a Gaussian PLY and a report for customers."""
    from penstock import recipes, sources
    from penstock.driver import Run
    from penstock.executors import executor as make_executor
    from penstock.executors.local import Local
    from penstock.store.export import check_formats
    from penstock.trace.spans import Trace

    formats = words(export)
    check_formats(formats)
    options: dict[str, Any] = {
        "boxes": tuple(parse_box(text) for text in box) if box else None,
        "labels": tuple(words(labels)) if labels else None,
        "detector": detector,
        "model": model,
        "min_score": min_score,
        "engine": engine,
        "camera_height": camera_height,
        "pitch": pitch,
        "depth": str(depth) if depth else None,
        "furniture": furniture,
        "gpus": gpus,
        "page_timeout": page_timeout,
        "cores": cores,
    }
    if engine == "sam3d":
        options["mesh"] = _mesh_options(
            python=sam3d_python,
            config=sam3d_config,
            moge=moge,
            setting=setting,
            stage1_steps=stage1_steps,
            stage2_steps=stage2_steps,
            with_mesh=mesh,
            with_texture=texture,
            with_mesh_postprocess=mesh_postprocess,
            with_layout_postprocess=layout_postprocess,
        )
    plan = recipes.build("photos", {key: value for key, value in options.items() if value is not None})
    runner = make_executor(executor, Trace())
    if engine == "sam3d" and executor == "local":
        runner = Local(Trace(), stall_s=SAM3D_STALL_S)
    run = Run(
        plan,
        runner,
        out,
        retry_failed=retry_failed,
        fresh=fresh,
        facts={"inputs": [str(name) for name in photos], "same_room": same_room},
    )
    _work(run, _as_photos(sources.list_items(photos)), quiet or as_json)
    _finish(run, formats, as_json)


def parse_box(text: str) -> GivenBox:
    """'room.jpg=10,20,300,400:chair' -> a box for room.jpg. Raises UsageError."""
    from penstock.stages.detect import GivenBox

    where, equals, rest = text.rpartition("=")
    numbers, colon, label = rest.partition(":")
    try:
        x, y, width, height = (float(part) for part in numbers.split(","))
    except ValueError as exc:
        raise UsageError(
            f"--box {text} is not a box.", "Write x,y,w,h:label, as in 10,20,300,400:chair."
        ) from exc
    if width <= 0 or height <= 0 or not colon or not label.strip():
        raise UsageError(f"--box {text} has no size or no label.", "Write x,y,w,h:label.")
    return GivenBox(where if equals else "", (x, y, x + width, y + height), label.strip())


def _mesh_options(**given: Any) -> Any:
    from penstock.engines.mesh import SMALLER, MeshOptions

    settings = {*SMALLER, *SMALLER.values()}
    if given["setting"] not in {None, *settings}:
        raise UsageError(
            f"--setting {given['setting']} is not known.", f"Choose from: {', '.join(sorted(settings))}."
        )
    return MeshOptions(**{name: value for name, value in given.items() if value is not None})


def _as_photos(items: Iterator[Item]) -> Iterator[Item]:
    for item in items:
        yield replace(item, kind="photo")


def _work(run: Run, listing: Iterator[Item], quiet: bool) -> None:
    from penstock.cli.parse import _showing

    with _showing(run, quiet):
        for _ in run.pages(listing):
            pass


def _finish(run: Run, formats: list[str], as_json: bool) -> None:
    from penstock.store.documents import read_pages
    from penstock.store.export import export
    from penstock.store.objects_export import read_inventory
    from penstock.trace import report

    if run.tally.done or run.tally.failed:
        report.write(run.profile(), run.out)
    written = export(run.out, formats)
    found = read_inventory(run.out, read_pages(run.out))
    if as_json:
        print(json.dumps(_summary(run, found, written), ensure_ascii=False))
    else:
        _tell(run, found, written)
    if not run.tally.all_well:
        raise typer.Exit(1)


def _summary(run: Run, found: Inventory, written: list[Path]) -> dict[str, Any]:
    from penstock.store.inventory import object_row

    return {
        "out": str(run.out),
        "photos": run.tally.done,
        "failed": run.tally.failed,
        "failed_objects": run.tally.failed_regions,
        "skipped": run.tally.skipped,
        "objects": [object_row(line) for line in found.lines],
        "total_cbm": round(found.boxes.cbm, 3),
        "moving_cbm": round(found.moving.cbm, 3),
        "moving_range_cbm": [round(found.moving.low, 3), round(found.moving.high, 3)],
        "written": [str(path) for path in written],
    }


def _tell(run: Run, found: Inventory, written: list[Path]) -> None:
    from rich.console import Console
    from rich.table import Table

    from penstock.objects.furniture import FT3_PER_M3

    for photo, reason in run.tally.failures:
        print(f"failed: {photo}: {reason}", file=sys.stderr)
    table = Table(box=None, pad_edge=False)
    for name in ("no.", "item", "photo", "W x D x H m", "m³", "ft³", "how sure"):
        table.add_column(name, justify="right" if name in ("no.", "m³", "ft³") else "left")
    for line in found.lines:
        table.add_row(*_cells(line))
    console = Console(width=None if sys.stdout.isatty() else 140, highlight=False)
    console.print(table)
    for document in found.empty:
        console.print(f"Nothing was found in {document}: give it a --box.", markup=False, soft_wrap=True)
    moving = found.moving
    console.print(
        f"To move: {moving.cbm:.2f} m³ ({moving.cbm * FT3_PER_M3:.0f} ft³),"
        f" likely {moving.low:.2f} to {moving.high:.2f} m³; boxes as they stand {found.boxes.cbm:.2f} m³."
    )
    for path in written[:3]:
        console.print(f"  {path}", soft_wrap=True, markup=False)


def _cells(line: Line) -> list[str]:
    from rich.markup import escape

    from penstock.objects.furniture import FT3_PER_M3
    from penstock.store.inventory import how_sure

    thing = line.thing
    head = [str(line.number), escape(thing.label), escape(line.item.document)]
    if thing.failure is not None:
        return [*head, escape(f"failed: {thing.failure.message}"), "", "", ""]
    if thing.size is None or thing.bbox_cbm is None:
        return [*head, "", "", "", ""]
    size = " x ".join(f"{side:.2f}" for side in thing.size)
    same = f", same as {line.same_as}" if line.same_as else ""
    sure = f"{thing.estimate} {how_sure(thing)}{same}"
    return [*head, size, f"{thing.bbox_cbm:.2f}", f"{thing.bbox_cbm * FT3_PER_M3:.1f}", sure]
