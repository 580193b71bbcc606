"""What the formula recogniser's tools have: checkpoints in parts, spoiled pictures, edit distances."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "formulas"))
sys.path.append(str(Path(__file__).resolve().parents[2] / "src"))

import checkpoint
from degrade import spoiled
from scores import edit_distance

from penstock.engines.ocr.hangul_picture import HEIGHT, PreparedLine, prepared

__all__ = ["HEIGHT", "PreparedLine", "checkpoint", "edit_distance", "prepared", "spoiled"]
