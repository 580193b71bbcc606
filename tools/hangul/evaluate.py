"""Scores exported weights: on lines in held-out fonts, and on lines cut from real pages.

    export PYTHONPATH=../../src:../training
    python evaluate.py --weights weights/hangul.onnx --data build/hangul --pdf a-korean-file.pdf

Real lines are found by the built-in line finder; their truth is the PDF's text layer inside their boxes, so
only files with a layer count. `network` reads alone; `recipe` is what the recipe does, with doubtful words
read by PP-OCR. CER counts no spaces. CPU time is of one thread, of reading alone. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from drawing import cut_out, drawn, faces, printed, style, with_surroundings
from lines import Texts
from numpy.typing import NDArray
from scores import scored
from signs import is_syllable, written

from penstock.engines.ocr import recognise
from penstock.engines.ocr.hangul_network import HangulNetwork, Symbol
from penstock.engines.ocr.reader import PageReader

Pixels = NDArray[np.uint8]
Sample = tuple[Pixels, str]  # a line's picture and its text
TEST_SEED, LONGEST = 77, 40


def rendered(data: Path, unpacked: Path, family: str, count: int) -> Iterator[Sample]:
    """Spoiled lines in one held-out family, in sentences never trained on; the same ones each time."""
    own = [face for face in faces(data, unpacked) if face.family == family]
    texts = Texts(data / "texts.json.xz", held_out=True)
    for number in range(count):
        dice = np.random.default_rng((TEST_SEED, number))
        how = style(own, [], dice)
        text = (texts.receipt if how.till else texts.line)(dice, LONGEST)
        line = drawn(text, how, 60 * how.pen.em, dice)
        if line is not None:
            line = with_surroundings(printed(line, how, dice), [], how.pen.em, dice)
            cut = cut_out(line, how.pen.em, dice)
            yield np.repeat(cut[:, :, None], 3, axis=2), line.text


def from_pages(pdf: Path, reader: PageReader, dpi: int, bad_scan: bool) -> Iterator[Sample]:
    """Lines of a PDF's pages and what its layer says inside their boxes; those with Hangul alone."""
    import pypdfium2

    for page in pypdfium2.PdfDocument(pdf):
        pixels = np.ascontiguousarray(page.render(scale=dpi / 72, rev_byteorder=True).to_numpy()[:, :, :3])
        layer, height = page.get_textpage(), page.get_height()
        for line in reader.find(pixels):
            x0, y0, x1, y1 = (value * 72 / dpi for value in line.box)
            text = written(layer.get_text_bounded(x0, height - y1, x1, height - y0))
            if any(map(is_syllable, text)):
                cut = recognise.cut(pixels, line)
                yield (_scanned(cut) if bad_scan else cut), text


def _scanned(cut: Pixels) -> Pixels:
    """Three quarters of the resolution, grey, JPEG at 50."""
    grey = cv2.cvtColor(
        cv2.resize(cut, None, fx=0.75, fy=0.75, interpolation=cv2.INTER_AREA), cv2.COLOR_RGB2GRAY
    )
    _, content = cv2.imencode(".jpg", grey, [cv2.IMWRITE_JPEG_QUALITY, 50])
    return np.repeat(cv2.imdecode(content, cv2.IMREAD_GRAYSCALE)[:, :, None], 3, axis=2)


def text_of(symbols: list[Symbol]) -> str:
    return "".join(" " * symbol.spaced + symbol.text for symbol in symbols)


def _bare(text: str) -> str:
    return written(text).replace(" ", "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--weights", type=Path, required=True)
    parser.add_argument("--data", type=Path, help="the folder that prepare.py made")
    parser.add_argument("--unpacked", type=Path, default=Path("/tmp/hangul-fonts"))
    parser.add_argument("--pdf", type=Path, nargs="*", default=[])
    parser.add_argument("--dpi", type=int, default=200)
    parser.add_argument("--count", type=int, default=200, help="lines of a family; of a PDF at most")
    options = parser.parse_args()
    reader, network = PageReader(("ko",)), HangulNetwork(options.weights)
    readers: dict[str, Callable[[Pixels], str]] = {
        "network": lambda cut: text_of(network.read_line(cut)),
        "recipe": lambda cut: reader._spliced([cut], [network.read_line(cut)])[0].text,
    }
    reports: list[dict[str, Any]] = []
    for name, samples in _sets(options, reader):
        report = {
            "set": name,
            "lines": len(samples),
            **{who: scored(samples, read, _bare) for who, read in readers.items()},
        }
        reports.append(report)
        print(json.dumps(report), flush=True)
    print(json.dumps({"weights": str(options.weights), "sets": reports}))


def _sets(options: argparse.Namespace, reader: PageReader) -> Iterator[tuple[str, list[Sample]]]:
    if options.data:
        held_out = dict.fromkeys(face.family for face in faces(options.data, options.unpacked) if face.test)
        for family in held_out:
            yield family, list(rendered(options.data, options.unpacked, family, options.count))
    for pdf in options.pdf:
        for bad_scan in (False, True):
            name = f"{pdf.name} at {options.dpi} dpi" + (", a bad scan of it" if bad_scan else "")
            lines = from_pages(pdf, reader, options.dpi, bad_scan)
            yield name, [sample for sample, _ in zip(lines, range(options.count), strict=False)]


if __name__ == "__main__":
    main()
