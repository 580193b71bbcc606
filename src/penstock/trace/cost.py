"""What a page takes, and what a million would: hours, tokens, energy, and money at a price an hour.

Computed from a run's profile. Start-up is paid once, so it does not count a million times.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.trace import phrases

MANY = 1_000_000
USED = 0.05  # a card that was never busier has not worked for us


def startup_s(profile: Mapping[str, Any]) -> float:
    """Seconds before the pipeline ran: workers open side by side, so the slowest stage counts."""
    # each of its workers once; half the run at most, or a rate would be made up
    longest = max((float(stage["open_s"]) / stage["workers"] for stage in profile["stages"]), default=0.0)
    return min(longest, float(profile["seconds"]) / 2)


def seconds_for(profile: Mapping[str, Any], pages: int) -> float | None:
    """How long so many pages would take at this run's rate; None if no page went well."""
    finished = profile["items"] + profile["failed"]
    startup = startup_s(profile)
    working_s = profile["seconds"] - startup
    if profile["items"] <= 0 or working_s <= 0:
        return None
    return float(startup + pages * working_s / finished)


def cost(profile: Mapping[str, Any]) -> dict[str, Any]:
    """Of a page and of a million; keys that cannot be known are left out. Empty if nothing ran."""
    seconds = seconds_for(profile, MANY)
    if seconds is None:
        return {}
    num_cards = _cards_used(profile)
    found = {
        "cards": num_cards,
        "unit": phrases.unit(profile),
        "hours_per_million": seconds / 3600 * max(1, num_cards),
        "regions_per_page": _per_page(profile, profile.get("regions")),
        **_tokens(profile),
        "energy_kwh_per_million": _energy(profile, seconds),
    }
    return {name: value for name, value in found.items() if value is not None}


def priced(found: Mapping[str, Any], price: float) -> float:
    """What a million pages cost at a price for an hour of one card, or of the machine without one."""
    return float(found["hours_per_million"] * price)


def told(found: Mapping[str, Any], price: float | None = None) -> str:
    """ "A million pages: 47.9 GPU hours, 119.75 at 2.5 an hour, 33 kWh; 7.8 regions, ... a page."."""
    unit = "GPU hours" if found["cards"] else "hours of this machine"
    parts = [f"{phrases.rate(found['hours_per_million'])} {unit}"]
    if price is not None:
        parts.append(f"{money(priced(found, price))} at {price:g} an hour")
    if "energy_kwh_per_million" in found:
        parts.append(f"{phrases.rate(found['energy_kwh_per_million'])} kWh")
    each, unit = page_parts(found), phrases.unit(found)
    return f"A million {unit}s: {', '.join(parts)}{f'; a {unit}: ' + ', '.join(each) if each else ''}."


def page_parts(found: Mapping[str, Any]) -> list[str]:
    names = {
        "regions_per_page": "regions",
        "prompt_tokens_per_page": "tokens in",
        "generation_tokens_per_page": "tokens out",
    }
    return [f"{phrases.rate(found[name])} {said}" for name, said in names.items() if name in found]


def money(amount: float) -> str:
    return f"{amount:,.0f}" if amount >= 100 else f"{amount:.2f}"


def _cards_used(profile: Mapping[str, Any]) -> int:
    cards = (profile.get("gpu") or {}).get("cards", ())
    return sum(bool(card["load"]) and card["load"]["peak"] > USED for card in cards)


def _per_page(profile: Mapping[str, Any], number: float | None) -> float | None:
    return number / profile["items"] if number and profile["items"] else None


def _tokens(profile: Mapping[str, Any]) -> dict[str, float | None]:
    servers = (profile.get("servers") or {}).get("each", ())
    return {
        f"{name}_per_page": _per_page(profile, sum(server.get(name, 0) for server in servers))
        for name in ("prompt_tokens", "generation_tokens")
    }


def _energy(profile: Mapping[str, Any], seconds: float) -> float | None:
    """At the mean power of the run: watt hours over its time, for the time of a million pages."""
    watt_hours = (profile.get("gpu") or {}).get("energy_wh")
    return watt_hours / 1000 * seconds / profile["seconds"] if watt_hours else None
