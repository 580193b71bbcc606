"""Scores exported weights on lines in held-out fonts and sentences, beside Tesseract where it is installed.

    export PYTHONPATH=../../src:../training:../hangul
    python script_evaluate.py --weights weights/scripts.onnx --data build/scripts --tesseract

CER is of the text as written, without spaces. CPU time is of one thread, of reading alone; Tesseract's holds
the start of its program. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np
from drawing import cut_out, with_surroundings
from numpy.typing import NDArray
from scores import scored
from script_drawing import script_drawn, script_faces, script_style
from script_lines import ScriptTexts
from script_signs import written

from penstock.engines.ocr.scripts_network import ScriptsNetwork
from penstock.engines.ocr.visual_order import turned

Pixels = NDArray[np.uint8]
Sample = tuple[Pixels, str]  # a line's picture and its text, as written
TEST_SEED, LONGEST = 77, 40
TESSERACT = {
    "cyrillic": "rus",
    "greek": "ell",
    "arabic": "ara",
    "hebrew": "heb",
    "devanagari": "hin",
    "thai": "tha",
}


def rendered(options: argparse.Namespace, script: str, family: str) -> Iterator[Sample]:
    """Lines in one held-out family, in sentences and words never trained on; the same ones each time."""
    faces = script_faces(options.data, options.unpacked)
    own = [face for face in faces if (face.script, face.family) == (script, family)]
    texts = ScriptTexts(options.data / "texts.json.xz", held_out=True)
    for number in range(options.count):
        dice = np.random.default_rng((TEST_SEED, number))
        how = script_style(own, [], dice)
        line = script_drawn(texts.lines(script, dice, LONGEST), how, 60 * how.em, dice)
        if line is not None:
            around = line if options.clean else with_surroundings(line, [], how.em, dice)
            cut = cut_out(around, how.em, dice, not options.clean)
            yield np.repeat(cut[:, :, None], 3, axis=2), turned(line.text)[0]


def _bare(text: str) -> str:
    return written(text).replace(" ", "")


def _tesseract(cut: Pixels, language: str) -> str:
    """What Tesseract reads of a line with white paper around it and letters as high as it likes them."""
    scale = max(1.0, 48 / len(cut))
    large = cv2.resize(cut, None, fx=scale, fy=scale, interpolation=cv2.INTER_CUBIC)
    paper = int(np.median(large))
    framed = cv2.copyMakeBorder(large, 12, 12, 12, 12, cv2.BORDER_CONSTANT, value=(paper,) * 3)
    with tempfile.NamedTemporaryFile(suffix=".png") as file:
        cv2.imwrite(file.name, framed)
        command = ["tesseract", file.name, "-", "--psm", "7", "-l", f"{language}+eng"]
        told = subprocess.run(
            command, capture_output=True, text=True, check=False, env={**os.environ, "OMP_THREAD_LIMIT": "1"}
        )
    return told.stdout


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--weights", type=Path, required=True)
    parser.add_argument("--data", type=Path, required=True, help="the folder that script_prepare.py made")
    parser.add_argument("--unpacked", type=Path, default=Path(tempfile.gettempdir()) / "script-fonts")
    parser.add_argument("--count", type=int, default=200, help="lines of a family")
    parser.add_argument("--clean", action="store_true", help="nothing spoiled")
    parser.add_argument("--tesseract", action="store_true", help="what Tesseract reads, too")
    options = parser.parse_args()
    network = ScriptsNetwork(options.weights)
    reports = []
    tested = [face for face in script_faces(options.data, options.unpacked) if face.test]
    for script, family in dict.fromkeys((face.script, face.family) for face in tested):
        samples = list(rendered(options, script, family))
        report = {"script": script, "family": family, "lines": len(samples)}
        report["network"] = scored(samples, lambda cut: _text_of(network, cut), _bare)  # type: ignore[assignment]
        if options.tesseract:
            language = TESSERACT[script]
            report["tesseract"] = scored(samples, lambda cut, own=language: _tesseract(cut, own), _bare)  # type: ignore
        reports.append(report)
        print(json.dumps(report), flush=True)
    print(json.dumps({"weights": str(options.weights), "sets": reports}))


def _text_of(network: ScriptsNetwork, cut: Pixels) -> str:
    return "".join(" " * symbol.spaced + symbol.text for symbol in network.read_line(cut))


if __name__ == "__main__":
    main()
