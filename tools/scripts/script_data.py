"""Batches of pictures of lines in other scripts, drawn while the network trains.

Batch n of a seed is always the same.
"""

from __future__ import annotations

import numpy as np
from data import SHEET, DrawnBatches, LineRecipe, fitted
from drawing import Drawn, Picture, with_surroundings
from script_drawing import ScriptStyle, script_drawn, script_picture, script_style
from script_lines import ScriptTexts
from script_signs import SCRIPTS, classes_of
from shaping import ScriptFace

from penstock.engines.ocr.hangul_picture import SCRIPTS_HEIGHT

# at 40 rows: from a cell of a table to a line over a whole page
SCRIPT_WIDTHS = (120, 240, 400, 560, 720, 880, 1040, 1200, 1520)
SHARES = {"cyrillic": 0.16, "greek": 0.09, "arabic": 0.28, "hebrew": 0.11, "devanagari": 0.17, "thai": 0.19}
# about how wide a character is, in ems, and how high a line that is cut close
WIDE = {"cyrillic": 0.55, "greek": 0.5, "arabic": 0.42, "hebrew": 0.5, "devanagari": 0.4, "thai": 0.42}
HIGH = {"cyrillic": 1.05, "greek": 1.05, "arabic": 1.25, "hebrew": 1.0, "devanagari": 1.3, "thai": 1.45}


class ScriptBatches(DrawnBatches):
    """Draws batches in the given faces."""

    def __init__(self, texts: ScriptTexts, faces: list[ScriptFace], seed: int, recipe: LineRecipe) -> None:
        super().__init__(seed, recipe, SCRIPTS_HEIGHT, classes_of)
        self._texts = texts
        self._faces = {script: [face for face in faces if face.script == script] for script in SCRIPTS}
        self._scripts = [script for script in SCRIPTS if self._faces[script]]
        shares = np.array([SHARES[script] for script in self._scripts])
        self._shares = shares / shares.sum()
        self._latin = sorted({face.files[-1] for face in faces if "-latin-" in face.files[-1].name})

    def _sheet(self, width: int, dice: np.random.Generator) -> list[Picture]:
        script = str(dice.choice(self._scripts, p=self._shares))
        how = script_style(self._faces[script], self._latin, dice)
        most = width * how.em * HIGH[script] / SCRIPTS_HEIGHT
        lines = [line for _ in range(SHEET) if (line := self._line(how, most, dice)) is not None]
        found = []
        for line in lines:
            ready = with_surroundings(line, lines, how.em, dice) if self._recipe.spoil else line
            made = fitted(script_picture(ready, how.em, dice, self._recipe.spoil), width)
            found += [made] if made and made.ink.any() else []
        return found

    def _line(self, how: ScriptStyle, most: float, dice: np.random.Generator) -> Drawn | None:
        """A line that fills most of the width, mostly: blank pictures teach little."""
        script = how.face.script
        longest = max(2, int(most / (WIDE[script] * how.em)))
        return script_drawn(self._texts.lines(script, dice, longest), how, most, dice)
