"""A pipeline over the made data set, as a command or as options."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from penstock.passes.pipeline_options import PipelineOptions
from tests.support.hub_server import Hub

TOKEN = "hf_a_token_for_tests"


def command(root: Path, *more: str) -> list[str]:
    where = [
        "--data-dir",
        str(root / "data"),
        "--output-dir",
        str(root / "output"),
        "--dataset",
        "test/kopub",
    ]
    return [sys.executable, "-m", "penstock", "run", "kopub", *where, "--hf-repo", "me/results", *more]


def environment(hub: Hub, root: Path) -> dict[str, str]:
    own = {
        "HF_ENDPOINT": hub.url,
        "HF_HUB_DISABLE_XET": "1",
        "HF_TOKEN": TOKEN,
        "HF_HOME": str(root / "home"),
    }
    return {**os.environ, **own}


def served(root: Path, **more: Any) -> PipelineOptions:
    return PipelineOptions(
        out=root / "output",
        data=root / "data",
        dataset=str(root / "set"),
        recipe="glm-ocr",
        settings={"layout": "cdla"},
        limit=4,
        workers=8,
        **more,
    )
