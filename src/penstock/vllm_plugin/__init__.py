"""A plugin for vLLM: models' vision towers with fewer passes over memory and fewer launches.

vLLM calls `register` in each of its processes, by the entry point `vllm.general_plugins`. The plugin waits
for the modules of GLM-OCR, PaddleOCR-VL, Qwen3-VL and DeepSeek-OCR, and replaces a tower's method where
version, shapes and card fit; else vLLM stays as it is. One line of vLLM's log says which. The variable
PENSTOCK_VISION chooses:

    auto, fast   the fast tower where it fits; `fast` warns where it does not
    fp8          as fast, with GLM-OCR's large products in eight bits: faster still, and less exact
    plain        vLLM's own

A room is named as the model's module in vLLM; they share kernels, graphs, blocks, and what pictures are.

This room runs inside vLLM's interpreter, so it imports nothing else of ours, and neither torch nor vLLM
before the model does.
"""

from __future__ import annotations

import logging
import os
from typing import Literal, get_args

from penstock.vllm_plugin.patch import after_import

Vision = Literal["auto", "fast", "fp8", "plain"]
MODES: tuple[Vision, ...] = get_args(Vision)
VARIABLE = "PENSTOCK_VISION"


def register() -> None:
    """Called by vLLM. Never raises: without the plugin a server is slower, not broken."""
    mode = os.environ.get(VARIABLE) or "auto"
    if mode not in MODES:
        logging.getLogger("vllm.penstock").warning(
            "%s=%s is not known (%s): the vision tower stays as vLLM has it.",
            VARIABLE,
            mode,
            ", ".join(MODES),
        )
    elif mode != "plain":
        after_import(mode)
