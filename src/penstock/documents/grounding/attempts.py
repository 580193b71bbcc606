"""Keeps what a model said in all attempts at a page, as a file named by its content."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict

from penstock.page import PageAttempt
from penstock.region import Asset, asset

FOLDER = "raw"


def raw_answer(attempts: Sequence[tuple[PageAttempt, str]]) -> Asset:
    """JSON: a list of attempts, each with the model's text."""
    rows = [{**asdict(attempt), "text": text} for attempt, text in attempts]
    return asset(FOLDER, json.dumps(rows, ensure_ascii=False).encode("utf-8", "replace"), "json")
