"""Estimates a run for `penstock plan` and prints it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from penstock.api.planning import estimate_run
from penstock.cli.running.progress import progress


def show_plan(inputs: tuple[str, ...], given: Mapping[str, Any], *, as_json: bool, quiet: bool) -> None:
    estimate, counted = estimate_run(inputs, given, progress(quiet or as_json))
    if as_json:
        print(json.dumps({**estimate.to_dict(), "counted_all": counted.complete}, ensure_ascii=False))
        return
    if not counted.complete:
        print("Counting was stopped after two minutes: the inputs have more pages.")
    print(estimate.text())
