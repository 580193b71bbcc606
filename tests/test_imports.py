"""The command line answers at once because it loads nothing heavy."""

from __future__ import annotations

import subprocess
import sys
import time

HEAVY = (
    "torch",
    "ray",
    "vllm",
    "onnxruntime",
    "transformers",
    "numpy",
    "pyarrow",
    "cv2",
    "pypdfium2",
    "scipy",
)


def test_importing_the_command_line_loads_nothing_heavy() -> None:
    code = f"import sys, penstock.cli; print([name for name in {HEAVY!r} if name in sys.modules])"
    shown = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=30
    )
    assert shown.stdout.strip() == "[]"


def test_help_answers_in_half_a_second() -> None:
    def once() -> float:
        began = time.perf_counter()
        subprocess.run(
            [sys.executable, "-m", "penstock", "--help"], check=True, capture_output=True, timeout=30
        )
        return time.perf_counter() - began

    assert min(once() for _ in range(3)) < 0.5
