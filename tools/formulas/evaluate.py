"""Scores exported weights: on rendered formulas in held-out fonts, and on formulas cut from real pages.

    export PYTHONPATH=../../src:../training
    python evaluate.py --weights weights/formula --test shards/test.shard --font pagella --data DATA

Scores are on normal forms without gaps, alignment marks and equation numbers: `exact` is the share read
without a fault, `edit` the mean edit distance of tokens over the longer one's length. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np
from degrade import spoiled, turn
from normal_form import BadFormula, for_scoring, normal_tokens
from numpy.typing import NDArray
from raster import Shard, geometry, picture
from scores import edit_distance
from vocabulary import decode

from penstock.engines.formula.picture import MAX_HEIGHT, MAX_WIDTH
from penstock.engines.formula.reader import FormulaReader

Pixels = NDArray[np.uint8]
Sample = tuple[str, Pixels, list[str]]  # a name, a picture, the true tokens
SEED = 2026
MARGIN = 8
PAD = 4  # pixels around a formula's box on a page


def rendered(shard: Shard, count: int, font: str, spoil: bool) -> Iterator[Sample]:
    """Formulas of a shard, the same ones and the same spots for the same arguments."""
    for number in range(min(count, len(shard))):
        dice = np.random.default_rng((SEED, number))
        box = shard.boxes[number]
        em = float(np.exp(dice.uniform(np.log(16), np.log(40))))
        em = min(
            em, (MAX_WIDTH - 16) / (box[2] - box[0]) * 1000, (MAX_HEIGHT - 16) / (box[3] - box[1]) * 1000
        )
        drawing = shard.drawing(number, None, font)
        turned = turn(dice, (box[2] - box[0]) / 1000 * em) if spoil else None
        ink = picture(drawing, geometry(box, em, (MARGIN,) * 4, turned))
        yield str(number), spoiled(ink, em, dice) if spoil else 255 - ink, decode(drawing.label)


def from_pages(folder: Path) -> Iterator[Sample]:
    """Display formulas of OmniDocBench's demo pages, cut from the pages' pictures."""
    for page in json.loads((folder / "OmniDocBench_demo.json").read_text()):
        name = page["page_info"]["image_path"]
        pixels: Pixels | None = None
        for region in page["layout_dets"]:
            if region["category_type"] != "equation_isolated" or not region.get("latex"):
                continue
            if pixels is None:
                pixels = cv2.cvtColor(cv2.imread(str(folder / "images" / name)), cv2.COLOR_BGR2RGB)
            xs, ys = region["poly"][::2], region["poly"][1::2]
            top, left = max(0, int(min(ys)) - PAD), max(0, int(min(xs)) - PAD)
            cut = pixels[top : int(max(ys)) + PAD, left : int(max(xs)) + PAD]
            yield f"{name} {left},{top}", cut, normal_tokens(region["latex"])


def scored(name: str, reader: FormulaReader, samples: Iterator[Sample], show: int) -> dict[str, object]:
    """Reads every sample and returns the scores."""
    exact, edits, sure, seconds = [], [], [], 0.0
    for number, (title, pixels, truth) in enumerate(samples):
        began = time.process_time()
        latex, confidence = reader.read_formula(pixels)
        seconds += time.process_time() - began
        said, wanted = for_scoring(_tokens(latex)), for_scoring(truth)
        exact.append(said == wanted)
        edits.append(edit_distance(said, wanted))
        sure.append(confidence)
        if number < show:
            print(f"{title}  {edits[-1]:.2f}  sure {confidence:.2f}")
            print(f"  true {' '.join(wanted)}")
            print(f"  read {' '.join(said)}")
    mean = {
        "exact": np.mean(exact),
        "edit": np.mean(edits),
        "confidence": np.mean(sure),
        "cpu_s": seconds / len(exact),
    }
    return {
        "set": name,
        "formulas": len(exact),
        **{key: round(float(value), 4) for key, value in mean.items()},
    }


def _tokens(latex: str) -> list[str]:
    """What was read, in normal form where it parses."""
    try:
        return normal_tokens(latex)
    except BadFormula:
        return latex.split()


def without_truth(reader: FormulaReader, folder: Path) -> dict[str, object]:
    """Pictures that came without LaTeX: how many are read to an end that parses."""
    files = sorted(folder.glob("*.png"))
    ended = 0
    for file in files:
        latex, confidence = reader.read_formula(cv2.cvtColor(cv2.imread(str(file)), cv2.COLOR_BGR2RGB))
        ended += confidence > 0
        print(f"{file.name}  sure {confidence:.2f}  {latex}")
    return {"set": "formula_cdm pictures, no truth", "formulas": len(files), "parsed": ended}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--weights", type=Path, required=True)
    parser.add_argument("--test", type=Path, help="a packed shard of formulas in a held-out font")
    parser.add_argument(
        "--font", default="", help="a font of the shard whose letters make a second held-out set"
    )
    parser.add_argument("--data", type=Path, help="the folder with omnidocbench_demo and formula_cdm")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--show", type=int, default=0, help="formulas of each set to print")
    options = parser.parse_args()
    reader = FormulaReader(options.weights)
    reports = []
    if options.test:
        shard = Shard(options.test)
        for font in dict.fromkeys(["", options.font]):
            for spoil in (False, True):
                name = f"{font or 'own letters'}, {'spoiled' if spoil else 'clean'}"
                reports.append(
                    scored(name, reader, rendered(shard, options.count, font, spoil), options.show)
                )
                print(json.dumps(reports[-1]), flush=True)
    if options.data:
        pages = from_pages(options.data / "omnidocbench_demo")
        reports.append(scored("OmniDocBench demo", reader, pages, options.show))
        reports.append(without_truth(reader, options.data / "formula_cdm" / "asset" / "test_imgs"))
    print(json.dumps({"weights": str(options.weights), "sets": reports}))


if __name__ == "__main__":
    main()
