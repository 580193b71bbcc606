"""Reads chosen numbers out of Prometheus's text format, which is what a server's /metrics answers.

    running = sum(values(text, ("vllm:num_requests_running",))["vllm:num_requests_running"])

It skips all other lines: vLLM's answer is 50 kB, most of it histogram buckets.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Sequence

_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


def values(text: bytes, names: Sequence[str]) -> dict[str, list[float]]:
    """Each metric's numbers, one for each of its label sets; an empty list if there are none.

    Leaves out NaN and Inf.
    """
    found: dict[str, list[float]] = {name: [] for name in names}
    for name, _, number in _find(tuple(names), text):
        try:
            value = float(number)
        except ValueError:
            continue
        if math.isfinite(value):
            found[name.decode()].append(value)
    return found


def labels(text: bytes, name: str) -> list[dict[str, str]]:
    """The label sets of a metric whose labels are the message, such as `vllm:cache_config_info`."""
    rows = _find((name,), text)
    return [dict(_LABEL.findall(row.decode("utf-8", "replace"))) for _, row, _ in rows]


def _find(names: tuple[str, ...], text: bytes) -> list[tuple[bytes, bytes, bytes]]:
    # a newline for the first line: a pattern that starts with one is five times as fast as `^`
    return _pattern(names).findall(b"\n" + text)


@functools.cache
def _pattern(names: tuple[str, ...]) -> re.Pattern[bytes]:
    wanted = "|".join(re.escape(name) for name in names)
    # a label's value may hold a brace, so the last one on the line ends the labels
    return re.compile(rf"\n({wanted})(\{{[^\n]*\}})? +([^\s]+)".encode())
