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
import resource
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import cv2
import numpy as np
from drawing import cut_out, with_surroundings
from numpy.typing import NDArray
from scores import edit_distance
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


def scored(samples: list[Sample], read: Callable[[Pixels], str]) -> dict[str, float]:
    """Reads every line; returns the character error rate, lines without a fault and CPU milliseconds."""
    began = time.process_time(), _children()
    said = [read(cut) for cut, _ in samples]
    seconds = time.process_time() - began[0] + _children() - began[1]
    pairs = [(_bare(text), _bare(true)) for text, (_, true) in zip(said, samples, strict=True)]
    wrong = sum(edit_distance(text, true) * max(len(text), len(true)) for text, true in pairs)
    return {
        "cer": round(wrong / max(1, sum(len(true) for _, true in pairs)), 4),
        "exact": round(sum(text == true for text, true in pairs) / len(pairs), 4),
        "cpu_ms": round(1000 * seconds / len(pairs), 1),
    }


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


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
        report["network"] = scored(samples, lambda cut: _text_of(network, cut))  # type: ignore[assignment]
        if options.tesseract:
            language = TESSERACT[script]
            report["tesseract"] = scored(samples, lambda cut, own=language: _tesseract(cut, own))  # type: ignore
        reports.append(report)
        print(json.dumps(report), flush=True)
    print(json.dumps({"weights": str(options.weights), "sets": reports}))


def _text_of(network: ScriptsNetwork, cut: Pixels) -> str:
    return "".join(" " * symbol.spaced + symbol.text for symbol in network.read_line(cut))


if __name__ == "__main__":
    main()
