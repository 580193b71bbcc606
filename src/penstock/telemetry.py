"""Keeps the packages that we use from reporting to their makers.

Most read their variable when they are imported, and onnxruntime writes a device's name and looks up a host
then. So `penstock` switches them off before it imports anything else; processes that it starts inherit them.
A variable that is set already stays as it is: whether to report is the user's decision.
"""

from __future__ import annotations

import os
from types import MappingProxyType

OFF = MappingProxyType(
    {
        "ORT_DISABLE_TELEMETRY": "1",  # onnxruntime
        "HF_HUB_DISABLE_TELEMETRY": "1",  # huggingface_hub, hf_xet, transformers
        "RAY_USAGE_STATS_ENABLED": "0",  # ray
        "VLLM_NO_USAGE_STATS": "1",  # vllm
        "DO_NOT_TRACK": "1",  # vllm, huggingface_hub and others that follow this convention
        "YOLO_OFFLINE": "true",  # ultralytics: events and a look for updates; downloads stay possible
    }
)


def switch_off() -> None:
    """Sets each variable of OFF that is not set."""
    for name, value in OFF.items():
        os.environ.setdefault(name, value)


def settings() -> dict[str, str]:
    """Returns the variables as this process has them, for a process that does not inherit its environment."""
    return {name: os.environ.get(name, value) for name, value in OFF.items()}
