"""Draws a line of each script in a family that was never trained on, for the tests of the reader.

export PYTHONPATH=../../src:../training:../hangul
python script_samples.py --data build/scripts --out ../../tests/fixtures/scripts
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

import cv2
import numpy as np
from script_drawing import ScriptStyle, script_drawn, script_faces

EM = 32.0
LINES = {
    "cyrillic": "Съешь ещё этих булок, № 42 (12.05.2024)",
    "greek": "Ο γρήγορος λύκος: 36,50 € για «όλους»",
    "arabic": "افتح الملف (رقم 12) ثم احفظه",
    "hebrew": "פתח את הקובץ readme.txt עד 17:30",
    "devanagari": "कृपया अपना नाम और पता लिखें।",
    "thai": "กรุณากรอกชื่อผู้ใช้ที่นี่ 250 บาท",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="the folder that script_prepare.py made")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--unpacked", type=Path, default=Path(tempfile.gettempdir()) / "script-fonts")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    held_out = [face for face in script_faces(options.data, options.unpacked) if face.test]
    for script, text in LINES.items():
        face = next(face for face in held_out if face.script == script)
        how = ScriptStyle(face, EM, 0.0, 1.0, 1.0, {})
        line = script_drawn(text, how, 10_000, np.random.default_rng(1))
        assert line is not None
        around = slice(max(0, line.top - 8), line.bottom + 8)
        cv2.imwrite(str(options.out / f"{script}.png"), 255 - line.ink[around])
    told = json.dumps(LINES, ensure_ascii=False, indent=2)
    (options.out / "lines.json").write_text(told + "\n", "utf-8")


if __name__ == "__main__":
    main()
