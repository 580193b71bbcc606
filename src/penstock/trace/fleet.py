"""What a run would take on other numbers of cards: pages a second, hours, money, and which stage to buy for.

All comes from the profile of a run: a machine runs the whole plan, so eight cards are eight times what was
measured on one. Times of one kind of card say nothing about another, so that is refused.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import Any

from penstock.errors import UsageError
from penstock.trace import cost, phrases, report
from penstock.trace.cost import MANY, Price
from penstock.trace.profile import HardwareFacts, Profile, StageProfile

WITHOUT_CARD = "cpu"
DRIVER_PER_S = 9_000  # rows that one core's books take: benchmarks/cpu/bench_bookkeeping.py, docs/scale.md
_CARDS = re.compile(r"([\w .-]+?)(?:(?<!rt)x([1-9][0-9]{0,4}))?", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Cards:
    """So many cards of one kind, each with its share of a machine; or machines without a card ("cpu").

    >>> Cards.parse("h200x8")
    Cards(kind='h200', number=8)
    >>> Cards.parse("rtx4090"), Cards.parse("4")
    (Cards(kind='rtx4090', number=1), Cards(kind='', number=4))
    """

    kind: str  # a word of its name; "": whatever was measured
    number: int

    @classmethod
    def parse(cls, text: str) -> Cards:
        """Raises UsageError for anything but a kind, a number, or KINDxNUMBER."""
        match = _CARDS.fullmatch(text.strip())
        if match is None or text.strip() == "0":
            raise UsageError(f"{text!r} names no cards.", "Write h200x8, cpux4, or 8 of what was measured.")
        if match[1].isdigit() and match[2] is None:
            return cls("", int(match[1]))
        return cls(match[1].casefold(), int(match[2] or 1))

    def measured_by(self, kinds: tuple[str, ...]) -> bool:
        """Returns whether the times were measured on such cards."""
        return all(_plain(self.kind) in _plain(kind) for kind in kinds)


@dataclass(frozen=True, slots=True)
class StageLimit:
    """What one stage could do if it were alone on all the cards."""

    stage: str
    per_second: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetEstimate:
    """What a run would take. None: no price was given. `items` is 0 where there were no inputs."""

    unit: str
    items: int
    cards: int
    kind: str
    per_second: float
    hours: float
    hours_per_million: float
    price: float | None
    price_per_million: float | None
    energy_kwh_per_million: float | None
    stages: tuple[StageLimit, ...]
    buy_for: str  # the stage
    advice: str
    measured: int  # items that the times come from
    measured_on: str
    failed: int  # of those measured

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    def text(self) -> str:
        """Returns a few lines for a terminal."""
        failed = f", {phrases.count(self.failed)} of them failed" if self.failed else ""
        measured = f"Measured on {phrases.plural(self.measured, self.unit)}{failed}: {self.measured_on}."
        return "\n".join([*self._lines(), measured, "", *_table(self.stages), "", self.advice])

    def _lines(self) -> list[str]:
        speed = f"{self.cards} x {self.kind}: {phrases.rate(self.per_second)} {self.unit}s/s"
        whole = _bill(f"A million {self.unit}s", self.hours_per_million, self.price_per_million)
        if not self.items:
            return [f"{speed}. {whole}"]
        these = phrases.plural(self.items, self.unit)
        return [f"{speed}. {_bill(f'These {these}', self.hours, self.price)}", whole]


def fleet_estimate(profile: Profile, items: int, cards: Cards, price: Price | None = None) -> FleetEstimate:
    """Returns what so many items would take. Raises UsageError if the profile cannot tell."""
    found = cost.cost(profile)
    each_s = cost.seconds_each(profile)
    if found is None or each_s is None:
        raise UsageError("Nothing was read well, so nothing was measured.", "Look at the reasons in the log.")
    if profile.executor == "ray":
        raise UsageError("The profile is of a whole cluster.", "Name that of a run on one of its machines.")
    kinds = profile.hardware.gpus[: found.cards] or (WITHOUT_CARD,)
    if not cards.measured_by(kinds):
        where = f"measured on {_machine(profile.hardware, found.cards)}"
        raise UsageError(
            f"The times were {where}, not on {cards.kind}.", "Pass --profile of a run on such a card."
        )
    times = cards.number / max(1, found.cards)  # as much as was measured
    an_hour = None if price is None else price.of_one(cards.kind or kinds[0]) * cards.number
    hours, million = (_hours(profile, count, each_s, times) for count in (items, MANY))
    working = sorted((stage for stage in profile.stages if stage.items), key=lambda one: one.capacity_per_s)
    return FleetEstimate(
        unit=profile.unit,
        items=items,
        cards=cards.number,
        kind=cards.kind or kinds[0],
        per_second=times / each_s,
        hours=hours,
        hours_per_million=million,
        price=None if an_hour is None else an_hour * hours,
        price_per_million=None if an_hour is None else an_hour * million,
        energy_kwh_per_million=found.energy_kwh_per_million,
        stages=tuple(StageLimit(stage.name, stage.capacity_per_s * times) for stage in working),
        buy_for=working[0].name,
        advice=_advice(profile, working, times / each_s),
        measured=profile.finished,
        measured_on=_machine(profile.hardware, found.cards),
        failed=profile.failed,
    )


def _hours(profile: Profile, items: int, each_s: float, times: float) -> float:
    return (cost.startup_s(profile) + items * each_s / times) / 3600 if items else 0.0


def _advice(profile: Profile, working: list[StageProfile], per_second: float) -> str:
    """Says which stage to buy for, and what; `working` has the slowest first."""
    name = working[0].name
    loads = {
        "cards": max(profile.gpu.mean_loads, default=0.0) if profile.gpu else 0.0,
        "cores": (profile.cpu_s or 0.0) / profile.seconds / profile.hardware.cores,
    }
    busiest = max(loads, key=lambda kind: loads[kind])
    if loads[busiest] >= report.SATURATED:
        words = f"Buy {busiest} for {name}: they are busy {phrases.percent(loads[busiest])}."
    else:
        full = ", ".join(f"{kind} {phrases.percent(load)}" for kind, load in loads.items() if load)
        words = f"Buy nothing yet: {name} is slowest, but busy are {full}. {report.advice(profile)}"
    return f"{words}{_next_limit(*working[:2])}{_books(per_second)}"


def _next_limit(slowest: StageProfile, following: StageProfile | None = None) -> str:
    if following is None:
        return ""
    room = phrases.rate(following.capacity_per_s / slowest.capacity_per_s)
    return f" A {slowest.name} that is {room} times as fast waits for {following.name}."


def _books(per_second: float) -> str:
    if per_second <= DRIVER_PER_S:
        return ""
    return f" One driver counts {DRIVER_PER_S:,} a second at most: read with ranks (--partition)."


def _machine(hardware: HardwareFacts, cards: int) -> str:
    names = ", ".join(hardware.gpus[:cards]) or "no card"
    return f"{names}, {phrases.plural(hardware.cores, 'core')}"


def _bill(what: str, hours: float, price: float | None) -> str:
    money = f", {cost.money(price)}" if price is not None else ""
    return f"{what}: {phrases.duration(hours * 3600)}{money}."


def _table(stages: tuple[StageLimit, ...]) -> list[str]:
    width = max(len(limit.stage) for limit in stages)
    return [f"{limit.stage:<{width}}  could do {phrases.rate(limit.per_second):>7}/s" for limit in stages]


def _plain(name: str) -> str:
    return re.sub(r"[\s_-]+", "", name.casefold())
