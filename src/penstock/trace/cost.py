"""What one item takes and what a million would: hours, tokens, energy, and money at a price an hour.

A run that knows its price tells while it works what was spent, and what the rest will cost.

Start-up is paid once, so it does not count a million times.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace

from penstock.errors import UsageError
from penstock.trace import phrases
from penstock.trace.profile import Profile, RunCost

MANY = 1_000_000
_PRICE = re.compile(r"(?:([\w .-]+)=)?([0-9]+(?:\.[0-9]+)?)", re.ASCII)
USED = 0.05  # a card that was never busier has not worked for us


def startup_s(profile: Profile) -> float:
    """Seconds before the pipeline ran: workers open side by side, so the slowest stage counts."""
    longest = max((stage.open_s / stage.workers for stage in profile.stages), default=0.0)
    return min(longest, profile.seconds / 2)  # half the run at most, or the rate would be made up


def seconds_for(profile: Profile, items: int) -> float | None:
    """How long so many items would take at this run's rate; None if no item went well."""
    each_s = seconds_each(profile)
    return None if each_s is None else startup_s(profile) + items * each_s


def seconds_each(profile: Profile) -> float | None:
    """Seconds an item while the pipeline ran; None if no item went well."""
    working_s = profile.seconds - startup_s(profile)
    return working_s / profile.finished if profile.items > 0 and working_s > 0 else None


def cost(profile: Profile) -> RunCost | None:
    """None if no item went well."""
    seconds = seconds_for(profile, MANY)
    if seconds is None:
        return None
    num_cards = _cards_used(profile)
    servers = profile.servers.each if profile.servers else ()
    return RunCost(
        hours_per_million=seconds / 3600 * max(1, num_cards),
        cards=num_cards,
        unit=profile.unit,
        regions_per_page=_each(profile, profile.regions),
        prompt_tokens_per_page=_each(profile, sum(server.prompt_tokens for server in servers)),
        generation_tokens_per_page=_each(profile, sum(server.generation_tokens for server in servers)),
        energy_kwh_per_million=_energy(profile, seconds),
    )


def with_price(profile: Profile, price: float) -> Profile:
    """The profile with what a million items cost at `price` an hour of one card, or of the machine."""
    found = profile.cost or cost(profile)
    if found is None:
        return profile
    paid = [(rank.seconds, rank.cards) for rank in profile.ranks or ()] or [(profile.seconds, found.cards)]
    spent = sum(seconds / 3600 * max(1, cards) for seconds, cards in paid) * price
    priced = replace(found, price=price, price_per_million=found.hours_per_million * price, spent=spent)
    return replace(profile, cost=priced)


def sentence(found: RunCost) -> str:
    """ "A million pages: 47.9 GPU hours, 119.75 at 2.5 an hour, 33 kWh; a page: 7.8 regions, ..."."""
    hours = "GPU hours" if found.cards else "hours of this machine"
    parts = [f"{phrases.rate(found.hours_per_million)} {hours}"]
    if found.price is not None and found.price_per_million is not None:
        parts.append(f"{money(found.price_per_million)} at {found.price:g} an hour")
    if found.energy_kwh_per_million is not None:
        parts.append(f"{phrases.rate(found.energy_kwh_per_million)} kWh")
    each = _parts_of_one(found)
    of_one = f"; a {found.unit}: {', '.join(each)}" if each else ""
    return f"A million {found.unit}s: {', '.join(parts)}{of_one}."


def _parts_of_one(found: RunCost) -> list[str]:
    numbers = {
        "regions": found.regions_per_page,
        "tokens in": found.prompt_tokens_per_page,
        "tokens out": found.generation_tokens_per_page,
    }
    return [f"{phrases.rate(number)} {name}" for name, number in numbers.items() if number is not None]


def _cards_used(profile: Profile) -> int:
    if profile.executor == "ray":  # cards of other machines are not watched: they all count
        return len(profile.hardware.gpus)
    cards = profile.gpu.cards if profile.gpu else ()
    return sum(card.load is not None and card.load.peak > USED for card in cards)


def _each(profile: Profile, number: int) -> float | None:
    return number / profile.items if number and profile.items else None


def _energy(profile: Profile, seconds: float) -> float | None:
    """Watt hours at the mean power of the run, for the time of a million items."""
    watt_hours = profile.gpu.energy_wh if profile.gpu else None
    return watt_hours / 1000 * seconds / profile.seconds if watt_hours else None


@dataclass(frozen=True, slots=True)
class Price:
    """The price of an hour of one card, or of a machine without cards; by a word of its name if they differ.

    >>> Price.parse("h200=3.49,a100=1.79").of(["NVIDIA H200", "NVIDIA A100-SXM4-80GB"])
    5.28
    >>> Price.parse("0.2").of([])
    0.2
    """

    each: float | None = None  # of a card that no word names
    by_card: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def parse(cls, text: str) -> Price:
        """Raises UsageError for anything but a number, or CARD=NUMBER between commas."""
        each, by_card = None, {}
        for part in text.split(","):
            match = _PRICE.fullmatch(part.strip())
            if match is None:
                raise UsageError(
                    f"{text!r} is no price.", "Write 3.49 for an hour of any card, or h200=3.49,a100=1.79."
                )
            if match[1]:
                by_card[match[1].strip().casefold()] = float(match[2])
            else:
                each = float(match[2])
        return cls(each, by_card)

    def of(self, cards: Sequence[str]) -> float:
        """Returns the price of an hour of these cards together. Raises UsageError for a card without one."""
        return sum(self.of_one(card) for card in cards or ["cpu"])

    def of_one(self, card: str) -> float:
        found = [price for word, price in self.by_card.items() if word in card.casefold()]
        price = found[0] if found else self.each
        if price is None:
            words = f"--price names no price for {card!r}."
            raise UsageError(words, f"Add one: --price {card.split()[-1].lower()}=3.49")
        return price


@dataclass(frozen=True, slots=True)
class Bill:
    """What a run has cost so far, and would at its rate. None: nothing is known yet."""

    an_hour: float
    so_far: float
    for_a_million: float | None = None
    for_the_rest: float | None = None

    @classmethod
    def of(
        cls,
        an_hour: float,
        seconds: float,
        per_second: float,
        left: int | None = None,
        before: float = 0.0,
    ) -> Bill:
        """Returns the bill of a run at `per_second` items; `before` is what earlier runs into OUT cost."""
        an_item = an_hour / 3600 / per_second if per_second > 0 else None
        return cls(
            an_hour,
            before + an_hour * seconds / 3600,
            None if an_item is None else MANY * an_item,
            None if an_item is None or left is None else left * an_item,
        )

    def sentence(self, unit: str) -> str:
        """ "1.20 so far, 109 a million pages, 12.30 for the rest"."""
        parts = [f"{money(self.so_far)} so far"]
        if self.for_a_million is not None:
            parts.append(f"{money(self.for_a_million)} a million {unit}s")
        if self.for_the_rest:
            parts.append(f"{money(self.for_the_rest)} for the rest")
        return ", ".join(parts)

    def facts(self) -> dict[str, float | None]:
        """Returns the numbers for run.json."""
        return {name: None if value is None else round(value, 6) for name, value in asdict(self).items()}


def money(amount: float) -> str:
    return f"{amount:,.0f}" if amount >= 100 else f"{amount:.2f}"
