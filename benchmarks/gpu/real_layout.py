"""PP-DocLayoutV3 with its real weights on a GPU: beside ONNX Runtime's boxes, and pages a second.

    python benchmarks/gpu/real_layout.py prepare ONNX_FILE FOLDER [--data DATA] [--pages 6] [--part 16MB]
    python benchmarks/gpu/real_layout.py measure FOLDER [--batches 8 16 32 64] [--rounds 5] [--no-compile]

`prepare` needs torch, transformers, ONNX Runtime and test data: it writes the weights in files no larger than
`--part`, the pages as their JPEGs, and what ONNX Runtime found on them. `measure` needs a GPU with torch and
transformers, and nothing else: no network, no ONNX Runtime. Edges of the first table are pixels of the
network's 800 x 800 input, which both got alike; those of "whole stage" are pixels of the page, decoded and
scaled on the card, and its boxes are those after cleaning. The last line is JSON.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools" / "models"))
import doclayout_checkpoint

from benchmarks.gpu.layout_gpu import inside, timed
from benchmarks.lib.common import DATA, finish
from benchmarks.quality.layout_torch import SIZE, THRESHOLD, Difference, Torch, by_onnx, files_of, scaled_page
from penstock.choices import Precision
from penstock.engines.image.decode import decode
from penstock.engines.layout.clean import FoundBoxes, Rules, clean
from penstock.engines.layout.doclayout import DocLayoutEngine
from penstock.engines.layout.doclayout_output import PlacedDetection
from penstock.engines.layout.torch_import import torch
from penstock.engines.weights.onnx import open_session
from penstock.region import LABELS

COLUMNS = ("labels", "scores", "boxes", "order", "query")  # of FoundBoxes
PAGES, TRUTH = "pages", "truth.npz"
MEASURED = 256  # pages of one round: the real ones over and over
Row = dict[str, float]


def prepare(given: argparse.Namespace) -> None:
    shutil.rmtree(given.folder, ignore_errors=True)
    (given.folder / PAGES).mkdir(parents=True)
    doclayout_checkpoint.convert(given.onnx, given.folder, given.part)
    session = open_session(given.onnx, given.threads, arena=True, name=given.onnx.name)
    found: dict[str, Any] = {}
    files = list(files_of(given.data, given.pages, [".jpg"]))
    for number, file in enumerate(files):
        shutil.copyfile(file, given.folder / PAGES / f"{number:03}.jpg")
        boxes, masks = by_onnx(session, scaled_page(file))
        found |= {f"{number}.{name}": getattr(boxes, name) for name in COLUMNS}
        found[f"{number}.masks"] = masks
    np.savez_compressed(given.folder / PAGES / TRUTH, **found)
    sizes = {path.name: path.stat().st_size for path in sorted(given.folder.iterdir()) if path.is_file()}
    pages_mb = sum(path.stat().st_size for path in (given.folder / PAGES).iterdir()) / 1e6
    finish("real_layout_prepare", pages=len(files), pages_mb=round(pages_mb, 1), bytes=sizes)


def kept_truth(folder: Path) -> list[tuple[FoundBoxes, Any]]:
    with np.load(folder / PAGES / TRUTH) as kept:
        count = sum(name.endswith(".masks") for name in kept)
        return [
            (FoundBoxes(*(kept[f"{n}.{column}"] for column in COLUMNS)), kept[f"{n}.masks"])
            for n in range(count)
        ]


def measure(given: argparse.Namespace) -> None:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    truth = kept_truth(given.folder)[: given.only or None]
    files = sorted((given.folder / PAGES).glob("*.jpg"))[: len(truth)]
    print(f"{torch.cuda.get_device_name() if device == 'cuda' else 'CPU'}, torch {torch.__version__}")
    rows = against_onnx(given, device, files, truth)
    jpegs = [file.read_bytes() for file in files]
    rows |= {f"{name}, whole stage": stage_row(given, name, jpegs, truth) for name in given.precision}
    show(rows)
    speeds = [] if device == "cpu" else list(pages_a_second(given, jpegs))
    finish("real_layout", device=device, torch=torch.__version__, differences=rows, speeds=speeds)


def against_onnx(
    given: argparse.Namespace, device: str, files: Sequence[Path], truth: Sequence[tuple[FoundBoxes, Any]]
) -> dict[str, Row]:
    """Returns how far each way of computing is from ONNX Runtime, the network alone."""
    ways: list[tuple[str, Precision, bool]] = [(name, name, False) for name in given.precision]
    if device == "cuda" and given.compile:
        ways += [(f"{name}, compiled", name, True) for name in given.precision]
    rows = {}
    pages = [scaled_page(file) for file in files]
    for name, precision, compile in ways:
        network, difference = Torch(given.folder, device, precision, compile), Difference()
        for page, (boxes, masks) in zip(pages, truth, strict=True):
            found, found_masks = network(page)
            difference.add(boxes, found, (masks, found_masks))
        rows[name] = difference.row()
        print(name, rows[name], flush=True)
    return rows


def stage_row(
    given: argparse.Namespace, precision: Precision, jpegs: Sequence[bytes], truth: Sequence[Any]
) -> Row:
    """Returns how far the engine's blocks are from ONNX Runtime's boxes, cleaned by the same rules."""
    difference = Difference()
    engine = DocLayoutEngine(str(given.folder), batch=8, precision=precision)
    try:
        for jpeg, blocks, (boxes, _) in zip(jpegs, engine.detect(jpegs), truth, strict=True):
            height, width = decode(jpeg).pixels.shape[:2]
            difference.add(cleaned(boxes, width, height), columns(blocks))
    finally:
        engine.close()
    return {name: value for name, value in difference.row().items() if not name.startswith("masks")}


def cleaned(found: FoundBoxes, width: int, height: int) -> FoundBoxes:
    scale = np.array((width, height, width, height)) / SIZE
    on_page = FoundBoxes(found.labels, found.scores, found.boxes * scale, found.order, found.query)
    kept = clean(on_page, width, height, Rules(threshold=THRESHOLD))
    return FoundBoxes(kept.labels, kept.scores, kept.boxes, np.arange(len(kept)), kept.query)


def columns(blocks: Sequence[PlacedDetection]) -> FoundBoxes:
    return FoundBoxes(
        np.array([LABELS.index(block.label) for block in blocks], np.int64),
        np.array([block.score for block in blocks]),
        np.array([block.box for block in blocks]).reshape(-1, 4),
        np.array([block.order for block in blocks], np.int64),
        np.arange(len(blocks)),
    )


def pages_a_second(given: argparse.Namespace, jpegs: Sequence[bytes]) -> Any:
    """Yields the speed of the whole stage (decode, scale, network, cleaning), last with outlines."""
    pages = [jpegs[n % len(jpegs)] for n in range(MEASURED)]
    ways = [(precision, batch, False) for precision in ("fp16", "bf16") for batch in given.batches]
    for precision, batch, polygons in [*ways, ("fp16", max(given.batches), True)]:
        engine = DocLayoutEngine(str(given.folder), batch=batch, precision=precision, polygons=polygons)
        report: dict[str, Any] = {"precision": precision, "batch": batch, "polygons": polygons}
        report["mode"] = getattr(engine._network, "mode", "eager")
        torch.cuda.reset_peak_memory_stats()
        times = timed(lambda engine=engine: engine.detect(pages), given.rounds)
        for name, best in (("pages_per_s", "median"), ("slowest", "worst"), ("fastest", "best")):
            report[name] = round(MEASURED / times[best] * 1000, 1)
        report["peak_gb"] = round(torch.cuda.max_memory_allocated() / 1e9, 2)
        inside(report, engine, pages)
        engine.close()
        print(report, flush=True)
        yield report


def show(rows: dict[str, Row]) -> None:
    for measure in next(iter(rows.values())):
        print(f"{measure:24}" + "".join(f"{row.get(measure, ''):>20}" for row in rows.values()))
    print(f"{'':24}" + "".join(f"{name:>20}" for name in rows))


def main(arguments: Sequence[str] | None = None) -> None:
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    verbs = parser.add_subparsers(required=True)
    pack = verbs.add_parser("prepare")
    pack.add_argument("onnx", type=Path, help="the publisher's file, as penstock models fetch brings it")
    pack.add_argument("folder", type=Path)
    pack.add_argument("--data", type=Path, default=DATA)
    pack.add_argument("--pages", type=int, default=6, help="of each source")
    pack.add_argument("--part", default="16MB", help="no file of the weights is larger")
    pack.add_argument("--threads", type=int, default=1)
    pack.set_defaults(run=prepare)
    run = verbs.add_parser("measure")
    run.add_argument("folder", type=Path)
    run.add_argument("--precision", nargs="+", default=["fp32", "bf16", "fp16"])
    run.add_argument("--batches", type=int, nargs="+", default=[8, 16, 32, 64])
    run.add_argument("--rounds", type=int, default=5)
    run.add_argument("--only", type=int, default=0, help="the first pages only")
    run.add_argument("--no-compile", dest="compile", action="store_false")
    run.set_defaults(run=measure)
    given = parser.parse_args(arguments)
    given.run(given)


if __name__ == "__main__":
    main()
