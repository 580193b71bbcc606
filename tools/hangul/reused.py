"""What the formula recogniser's tools and the package have: spoiled pictures, edit distances, cut lines."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "formulas"))
sys.path.append(str(Path(__file__).resolve().parents[2] / "src"))

from degrade import spoiled
from scores import edit_distance

from penstock.engines.ocr.hangul_picture import HEIGHT, PreparedLine, prepared

__all__ = ["HEIGHT", "PreparedLine", "edit_distance", "prepared", "spoiled"]
