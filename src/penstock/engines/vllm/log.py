"""Finds in a server's log why it did not start.

vLLM's log ends with a traceback of the front end that says only "Engine core initialization failed"; the
reason is some hundred lines above it. `reason` finds it and adds advice for the common ones.
"""

from __future__ import annotations

import re
from pathlib import Path

TAIL = 256 * 1024  # bytes: a start writes some 30 kB, and its tracebacks come last

_PREFIX = re.compile(r"^(\([^)]*\)\s*)*((INFO|WARNING|ERROR|DEBUG)\s+[\d-]+\s+[\d:]+\s+\[[^\]]*\]\s*)?")
_ERROR = re.compile(r"^(?:[A-Za-z_][\w.]*\.)?[A-Z]\w*(?:Error|Exception|Exit|Interrupt)\b.*|^.*\berror: .*")
_EMPTY_WORDS = ("Engine core initialization failed", "WorkerProc initialization failed", "KeyboardInterrupt")

_ADVICE = (
    ("out of memory", "Lower --gpu-memory-utilization, or take the preset of a smaller card."),
    (
        "less than desired GPU memory utilization",
        "Something else uses the card: stop it, or lower the share.",
    ),
    ("No available memory for the cache blocks", "Raise --gpu-memory-utilization or lower --max-model-len."),
    ("larger than the maximum number of tokens", "Lower --max-model-len or raise --gpu-memory-utilization."),
    ("ddress already in use", "Another program has the port: choose one with --port."),
    ("not a valid model identifier", "Check the model's name; for a folder give its path."),
    ("Repository Not Found", "Check the model's name; a private one needs HF_TOKEN."),
    ("offline mode", "The weights are not in the cache and the network may not be used (HF_HUB_OFFLINE)."),
    ("unrecognized arguments", "This version of vLLM does not know the flag; see `vllm serve --help=all`."),
)


def tail(path: Path, start: int = 0) -> str:
    """Returns the end of the log, at most from byte `start`, where this start of the server began."""
    try:
        with path.open("rb") as log:
            size = log.seek(0, 2)
            log.seek(max(start, size - TAIL))
            return log.read().decode("utf-8", "replace")
    except OSError:
        return ""


def reason(text: str) -> tuple[str, str]:
    """Returns what went wrong, in the log's own words on one line, and advice if we have some."""
    lines = [_PREFIX.sub("", line).strip() for line in text.splitlines()]
    errors = [line for line in lines if _ERROR.match(line)]
    telling = [line for line in errors if not any(words in line for words in _EMPTY_WORDS)]
    # the root cause is what was raised first; later ones are raised because of it
    words = (telling or errors or [line for line in lines if line][-1:] or ["its log is empty"])[0]
    advice = next((advice for part, advice in _ADVICE if part in text), "")
    return (words if len(words) <= 400 else words[:399] + "…"), advice
