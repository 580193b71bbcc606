"""What one item takes and what a million would: hours, tokens, energy, and money at a price an hour.

Start-up is paid once, so it does not count a million times.
"""

from __future__ import annotations

from dataclasses import replace

from penstock.trace import phrases
from penstock.trace.profile import Profile, RunCost

MANY = 1_000_000
USED = 0.05  # a card that was never busier has not worked for us


def startup_s(profile: Profile) -> float:
    """Seconds before the pipeline ran: workers open side by side, so the slowest stage counts."""
    longest = max((stage.open_s / stage.workers for stage in profile.stages), default=0.0)
    return min(longest, profile.seconds / 2)  # half the run at most, or the rate would be made up


def seconds_for(profile: Profile, items: int) -> float | None:
    """How long so many items would take at this run's rate; None if no item went well."""
    startup = startup_s(profile)
    working_s = profile.seconds - startup
    if profile.items <= 0 or working_s <= 0:
        return None
    return startup + items * working_s / profile.finished


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
    priced = replace(found, price=price, price_per_million=found.hours_per_million * price)
    return replace(profile, cost=priced)


def sentence(found: RunCost) -> str:
    """ "A million pages: 47.9 GPU hours, 119.75 at 2.5 an hour, 33 kWh; a page: 7.8 regions, ..."."""
    hours = "GPU hours" if found.cards else "hours of this machine"
    parts = [f"{phrases.rate(found.hours_per_million)} {hours}"]
    if found.price is not None and found.price_per_million is not None:
        parts.append(f"{_money(found.price_per_million)} at {found.price:g} an hour")
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


def _money(amount: float) -> str:
    return f"{amount:,.0f}" if amount >= 100 else f"{amount:.2f}"


def _cards_used(profile: Profile) -> int:
    cards = profile.gpu.cards if profile.gpu else ()
    return sum(card.load is not None and card.load.peak > USED for card in cards)


def _each(profile: Profile, number: int) -> float | None:
    return number / profile.items if number and profile.items else None


def _energy(profile: Profile, seconds: float) -> float | None:
    """Watt hours at the mean power of the run, for the time of a million items."""
    watt_hours = profile.gpu.energy_wh if profile.gpu else None
    return watt_hours / 1000 * seconds / profile.seconds if watt_hours else None
