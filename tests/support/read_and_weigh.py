"""Reads files as a run does and prints, as JSON, what became of each page and the most memory a child had.

A program of its own, because a process can only ask for the largest of all children it ever had.
"""

from __future__ import annotations

import json
import resource
import sys

from penstock.executors.local import Local
from penstock.page import Page
from penstock.plan import Plan
from penstock.sources import list_items
from penstock.stages.load import Load


def main(paths: list[str]) -> None:
    pages = Local().stream(Plan(Load(dpi=36)), list_items(paths, Page))
    told = {page.id: _said(page) for page in pages}
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
    print(json.dumps({"pages": told, "peak_mb": peak}))


def _said(page: object) -> str:
    failure = getattr(page, "failure", None)
    return f"{failure.message} {failure.advice}".strip() if failure else ""


if __name__ == "__main__":
    main(sys.argv[1:])
