"""Says before a run what it would take: hours, money, and which stage to buy for.

Stage times come from a sample of the inputs that is read here, or from the profile of an earlier run.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Unpack

from penstock.api.inputs import Inputs, names_of
from penstock.converted.python_terms import in_python_terms
from penstock.errors import UsageError
from penstock.options.option import defaults
from penstock.options.running import PLANNING, PRICE
from penstock.options.typed import PlanningSettings
from penstock.page import Page
from penstock.passes.parse import ParseOptions, list_pages, parse_options, parse_work
from penstock.passes.prepared_run import Showing
from penstock.trace import report
from penstock.trace.cost import Price
from penstock.trace.fleet import Cards, FleetEstimate, fleet_estimate
from penstock.trace.profile import Profile

COUNT_S = 120.0  # of counting the inputs: each document is opened, and those at addresses are fetched


@dataclass(frozen=True, slots=True)
class Counted:
    """The pages of the inputs, as far as they were counted in time, and some of them drawn by chance."""

    pages: int
    complete: bool
    sample: tuple[Page, ...]


@in_python_terms()
def plan_run(inputs: Inputs = (), **options: Unpack[PlanningSettings]) -> FleetEstimate:
    """Returns what reading the inputs would take on `cards`: pages a second, hours, and with `price` money.

    Stage times come from `sample` pages that are read here, or from `profile`, the OUT of an earlier run.

        found = penstock.plan_run("scans/", cards="h200x8", price=3.49, profile="out")
        print(found.hours, found.price, found.buy_for)
    """
    estimate, _ = estimate_run(tuple(names_of(inputs)), options)
    return estimate


def estimate_run(
    inputs: tuple[str, ...], given: Mapping[str, Any], showing: Showing | None = None
) -> tuple[FleetEstimate, Counted]:
    """Returns what reading the inputs would take. Raises UsageError if nothing can tell."""
    chosen = {**defaults(PLANNING), **given}
    cards, price = Cards.parse(str(chosen["cards"])), chosen.get(PRICE.name)
    earlier = read_profile(Path(chosen["profile"])) if chosen["profile"] else None
    if not inputs and earlier is None:
        raise UsageError("There is nothing to measure.", "Name inputs, or --profile OUT of an earlier run.")
    own = {name: value for name, value in given.items() if name not in defaults(PLANNING)}
    options = parse_options(inputs, own)
    with TemporaryDirectory(prefix="penstock-plan-") as folder:
        out = Path(folder) / "out"
        counted = _counted(options, out, chosen["sample"])
        profile = earlier or _measured(options, out, counted, showing)
    prices = None if price is None else Price.parse(str(price))
    return fleet_estimate(profile, counted.pages, cards, prices), counted


def read_profile(path: Path) -> Profile:
    """Returns the profile of an OUT, or of its profile.json."""
    return report.read(path.parent if path.name == "profile.json" else path)


def _counted(options: ParseOptions, out: Path, size: int) -> Counted:
    if not options.inputs:
        return Counted(0, True, ())
    listing = list_pages(options, out)
    try:
        return drawn(listing, size, _time_left(COUNT_S))
    finally:
        listing.close()  # type: ignore[attr-defined]  # a generator: it ends what counts pages


def drawn(listing: Iterator[Page], size: int, in_time: Callable[[], bool]) -> Counted:
    """Counts pages and keeps each with the same chance, the same ones for the same listing."""
    chance, sample, pages, complete = random.Random(0), list[Page](), 0, True
    for page in listing:
        if page.failure is not None:
            continue
        pages += 1
        place = len(sample) if len(sample) < size else chance.randrange(pages)
        if place < size:
            sample[place : place + 1] = [page]
        if not in_time():
            complete = False
            break
    return Counted(pages, complete, tuple(sample))


def _time_left(seconds: float) -> Callable[[], bool]:
    end = time.monotonic() + seconds
    return lambda: time.monotonic() < end


def _measured(options: ParseOptions, out: Path, counted: Counted, showing: Showing | None) -> Profile:
    """Reads the sample into a folder that goes away."""
    work = parse_work(options, out)
    return replace(work, listing=iter(counted.sample), ahead=False).finish(showing)
