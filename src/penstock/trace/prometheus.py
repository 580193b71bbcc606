"""Reads the few numbers we want out of a server's /metrics, which is Prometheus's text format.

    running = sum(values(text, ("vllm:num_requests_running",))["vllm:num_requests_running"])

Only the lines asked for are looked at: vLLM's answer is 50 kB, most of it histogram buckets.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Sequence

_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


def values(text: bytes, names: Sequence[str]) -> dict[str, list[float]]:
    """Each metric's numbers, one for each of its label sets; an empty list where there are none.

    Numbers that are none (NaN, Inf) are left out.
    """
    found: dict[str, list[float]] = {name: [] for name in names}
    for name, _, number in _lines(tuple(names)).findall(text):
        try:
            value = float(number)
        except ValueError:
            continue
        if math.isfinite(value):
            found[name.decode()].append(value)
    return found


def labels(text: bytes, name: str) -> list[dict[str, str]]:
    """The labels of a metric that tells by its labels, such as `vllm:cache_config_info`."""
    rows = _lines((name,)).findall(text)
    return [dict(_LABEL.findall(row.decode("utf-8", "replace"))) for _, row, _ in rows]


@functools.cache
def _lines(names: tuple[str, ...]) -> re.Pattern[bytes]:
    wanted = "|".join(re.escape(name) for name in names)
    # a label's value may hold a brace, so the last one on the line ends the labels
    return re.compile(rf"^({wanted})(\{{[^\n]*\}})? +([^\s]+)".encode(), re.MULTILINE)
