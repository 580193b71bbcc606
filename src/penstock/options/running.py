"""The options of a run: what is read, where, and in which way; they belong to no single recipe."""

from __future__ import annotations

from collections.abc import Iterable

from penstock.options.option import RECIPE_NAMES, Option
from penstock.plan import Plan
from penstock.sources.page_range import MAX_PAGES

RECIPE = Option(
    name="recipe", type=str | Plan, default="documents", group="Reading", offers=RECIPE_NAMES,
    help=f"How to read: {', '.join(RECIPE_NAMES)}, or module:function.",
)  # fmt: skip
PAGES = Option(
    name="pages", type=str | int | Iterable[int] | None, group="Input", remote=True,
    help="Pages of each document, counted from 1: 3-9 or 1,4,7-.",
)  # fmt: skip
EXECUTOR = Option(
    name="executor", type=str, default="local", group="Running", offers=("local", "ray", "inline"),
    help="Where the work runs: local, ray (the machines of a Ray cluster), or inline (for debugging).",
)  # fmt: skip
MAX_PAGES_READ = Option(
    name="max_pages", type=int, default=MAX_PAGES, min=1, group="Input", remote=True,
    help="Maximum number of pages read of one document.",
)  # fmt: skip
RETRY_FAILED = Option(
    name="retry_failed", type=bool, default=False, group="Running",
    help="Try again what failed in an earlier run.",
)  # fmt: skip
FRESH = Option(
    name="fresh", type=bool, default=False, group="Running",
    help="Discard what OUT holds and start over.",
)  # fmt: skip
IMAGE_COLUMN = Option(
    name="image_column", type=str | None, group="Input",
    help="Column of a data set that holds the images. Detected if not given.",
)  # fmt: skip
ID_COLUMN = Option(
    name="id_column", type=str | None, group="Input",
    help="Column of a data set that holds the ids. Detected if not given.",
)  # fmt: skip

CONVERTING: tuple[Option, ...] = (RECIPE, PAGES, EXECUTOR)  # what `convert` takes besides the recipe's own
KEEPING: tuple[Option, ...] = (RETRY_FAILED, FRESH)  # of a run that keeps its results in OUT
LISTING: tuple[Option, ...] = (MAX_PAGES_READ, IMAGE_COLUMN, ID_COLUMN)
RUN: tuple[Option, ...] = (*CONVERTING, *LISTING, *KEEPING)
