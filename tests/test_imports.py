"""The command line answers at once because it loads nothing heavy."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

HEAVY = (
    "aiohttp",
    "cv2",
    "fastapi",
    "lancedb",
    "numpy",
    "onnxruntime",
    "pyarrow",
    "pydantic",
    "pypdfium2",
    "ray",
    "scipy",
    "torch",
    "transformers",
    "uvicorn",
    "vllm",
)


def loaded_after(code: str) -> list[str]:
    """The heavy modules that a fresh Python holds after these lines."""
    program = (
        "import atexit, json, sys\n"
        f"def tell(): print(json.dumps(sorted(set({HEAVY!r}) & set(sys.modules))), file=sys.stderr)\n"
        f"atexit.register(tell)\n{code}"
    )
    shown = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=300
    )
    return list(json.loads(shown.stderr.splitlines()[-1]))


@pytest.mark.parametrize("module", ["penstock", "penstock.cli", "penstock.cli.app"])
def test_importing_the_command_line_loads_nothing_heavy(module: str) -> None:
    assert loaded_after(f"import {module}") == []


@pytest.mark.parametrize("arguments", [["--help"], ["--version"]])
def test_help_loads_nothing_heavy(arguments: list[str]) -> None:
    code = f"sys.argv = {['penstock', *arguments]!r}\nfrom penstock.cli import main\nmain()"
    assert loaded_after(code) == []


def test_a_run_is_put_together_without_models_and_without_an_http_client() -> None:
    code = "import penstock.passes.parse, penstock.exports.export, penstock.exports.page_files"
    assert loaded_after(code) == ["numpy", "pyarrow"]
