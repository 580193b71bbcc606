"""The options of a run: what is read, where, and in which way; they belong to no single recipe."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import ForwardRef, Union

from penstock.options.option import RECIPE_NAMES, Option
from penstock.sources.page_range import MAX_PAGES

RECIPE = Option(
    "recipe",
    Union[str, ForwardRef("penstock.plan.Plan")],  # noqa: UP007  a plan is heavy to import
    f"How to read: {', '.join(RECIPE_NAMES)}, or module:function.",
    default="documents",
    group="Reading",
    offers=RECIPE_NAMES,
)
PAGES = Option(
    "pages",
    str | int | Iterable[int] | None,
    "Pages of each document, counted from 1: 3-9 or 1,4,7-.",
    group="Input",
    remote=True,
)
EXECUTOR = Option(
    "executor",
    str,
    "Where the work runs: local, ray (the machines of a Ray cluster), or inline (for debugging).",
    default="local",
    group="Running",
    offers=("local", "ray", "inline"),
)
MAX_PAGES_READ = Option(
    "max_pages",
    int,
    "Maximum number of pages read of one document.",
    default=MAX_PAGES,
    min=1,
    group="Input",
    remote=True,
)
RETRY_FAILED = Option(
    "retry_failed", bool, "Try again what failed in an earlier run.", default=False, group="Running"
)
FRESH = Option("fresh", bool, "Discard what OUT holds and start over.", default=False, group="Running")
PARTITION = Option(
    "partition",
    str | None,
    "Read only the documents of one of several ranks that share OUT: 3/8 is the third of eight; any/8 takes"
    " those that no other rank reads, where OUT is an object store.",
    group="Running",
)
DEDUP = Option(
    "dedup",
    bool,
    "Read files with the same bytes once; each document has its pages all the same. They are read last.",
    default=False,
    group="Running",
)
KEEP_DOWNLOADS = Option(
    "keep_downloads",
    str | int | None,
    "Bytes that are kept of files fetched from addresses: 500GB. A file goes when its pages are read, the one"
    " read longest ago first. All are kept if not given.",
    group="Running",
    metavar="SIZE",
)
PRICE = Option(
    "price",
    str | float | None,
    "Price of an hour of one card (or of this machine without one): 3.49, or by card h200=3.49,a100=1.79."
    " Shows what the run costs.",
    group="Running",
)
CARDS = Option(
    "cards",
    str | int,
    "Cards to plan for: h200x8; cpux4 for machines without one; 8 of whatever was measured.",
    default="1",
    group="Running",
)
MEASURED = Option(
    "profile",
    str | Path | None,
    "OUT of an earlier run, whose stage times are taken instead of measuring here.",
    group="Running",
)
SAMPLE = Option(
    "sample",
    int,
    "Number of pages that are read to measure.",
    default=24,
    min=1,
    group="Running",
)
IMAGE_COLUMN = Option(
    "image_column",
    str | None,
    "Column of a data set that holds the images. Detected if not given.",
    group="Input",
)
ID_COLUMN = Option(
    "id_column", str | None, "Column of a data set that holds the ids. Detected if not given.", group="Input"
)

CONVERTING: tuple[Option, ...] = (RECIPE, PAGES, EXECUTOR)  # what `convert` takes besides the recipe's own
KEEPING: tuple[Option, ...] = (
    RETRY_FAILED,
    FRESH,
    PARTITION,
    DEDUP,
    KEEP_DOWNLOADS,
)  # of a run that keeps its results in OUT
LISTING: tuple[Option, ...] = (MAX_PAGES_READ, IMAGE_COLUMN, ID_COLUMN)
RUN: tuple[Option, ...] = (*CONVERTING, *LISTING, *KEEPING, PRICE)
PLANNING: tuple[Option, ...] = (CARDS, MEASURED, SAMPLE)
