"""The profile of several ranks as one, with a row for each: what they did is added up.

A rank counts as a machine. Ranks work at once or one after another, so time in which several worked counts
once, and workers and machines are those of the moment with the most ranks. What the cards, servers and
requests of a rank did is in its own profile alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from penstock.errors import UsageError
from penstock.trace import cost, report
from penstock.trace.profile import HardwareFacts, Profile, RankProfile, RunCost, StageProfile, narrowest

NO_OVERLAP_S = 1.0  # `started` has whole seconds


def read_run(out: Path, folders: Iterable[Path]) -> Profile:
    """Returns the profile of the last run into OUT: its own, or that of its ranks, each with a folder.

    Raises UsageError if there is none.
    """
    ranks = {folder.name: report.read(folder) for folder in folders if (folder / report.FILE).is_file()}
    if not ranks:
        return report.read(out)
    last = max(map(_began, ranks.values()))
    if (out / report.FILE).is_file() and _began(own := report.read(out)) > last:
        return own
    return together(ranks)


def together(ranks: dict[str, Profile]) -> Profile:
    """Returns the profiles as one; `ranks` has them by the ranks' names."""
    profiles = sorted(ranks.values(), key=_began)
    first, busiest = profiles[0], _at_once(profiles)
    stages = tuple(_stage(stage, profiles, busiest) for stage in first.stages)
    cpu_s = [one.cpu_s for one in profiles if one.cpu_s is not None]
    return Profile(
        started=first.started,
        items=sum(one.items for one in profiles),
        failed=sum(one.failed for one in profiles),
        skipped=sum(one.skipped for one in profiles),
        regions=sum(one.regions for one in profiles),
        readers=sum((Counter(one.readers) for one in profiles), Counter[str]()),
        unit=first.unit,
        executor=first.executor,
        command=first.command,
        hardware=HardwareFacts.together([one.hardware for one in busiest]),
        peak_rss_mb=max(one.peak_rss_mb for one in profiles),
        cpu_s=sum(cpu_s) if len(cpu_s) == len(profiles) else None,
        seconds=_worked_s(profiles),
        stages=stages,
        bottleneck=narrowest(stages),
        cost=_cost(profiles, busiest),
        ranks=tuple(_row(name, ranks[name]) for name in sorted(ranks, key=lambda name: -ranks[name].seconds)),
    )


def _row(name: str, profile: Profile) -> RankProfile:
    found = _own_cost(profile)
    return RankProfile(
        name=name,
        items=profile.items,
        failed=profile.failed,
        seconds=profile.seconds,
        items_per_s=profile.items_per_s,
        cards=found.cards if found else 0,
        bottleneck=profile.bottleneck,
    )


def _stage(stage: StageProfile, profiles: Sequence[Profile], busiest: Sequence[Profile]) -> StageProfile:
    each = [(one, profile) for profile in profiles for one in profile.stages if one.name == stage.name]
    stages = [one for one, _ in each]
    workers = sum(one.workers for profile in busiest for one in profile.stages if one.name == stage.name)
    items, busy_s = sum(one.items for one in stages), sum(one.busy_s for one in stages)
    times = [one.workers * one.overlap * profile.seconds for one, profile in each]
    calls = [float(one.calls) for one in stages]
    return replace(
        stage,
        workers=workers,
        items=items,
        calls=sum(one.calls for one in stages),
        failed=sum(one.failed for one in stages),
        restarts=sum(one.restarts for one in stages),
        open_s=sum(one.open_s for one in stages),
        busy=_mean([one.busy for one in stages], times),
        starved=_mean([one.starved for one in stages], times),
        blocked=_mean([one.blocked for one in stages], times),
        busy_s=busy_s,
        items_per_s=items / (_worked_s(profiles) or 1.0),
        capacity_per_s=items / busy_s * workers * stage.overlap if busy_s else 0.0,
        batch_fill=_mean([one.batch_fill for one in stages], calls),
        p50_ms=_mean([one.p50_ms for one in stages], calls),
        p95_ms=max(one.p95_ms for one in stages),  # of the slowest: percentiles cannot be added up
    )


def _cost(profiles: Sequence[Profile], busiest: Sequence[Profile]) -> RunCost | None:
    """Returns the mean of the ranks' costs by their items; None if no item went well."""
    found = [(one, float(profile.finished)) for profile in profiles if (one := _own_cost(profile))]
    if not found:
        return None

    def mean(name: str) -> float | None:
        known = [(value, items) for one, items in found if (value := getattr(one, name)) is not None]
        return _mean([value for value, _ in known], [items for _, items in known]) if known else None

    at_once = [one for profile in busiest if (one := _own_cost(profile))]
    spent = [one.spent for one, _ in found if one.spent is not None]
    return RunCost(
        hours_per_million=mean("hours_per_million") or 0.0,
        cards=sum(one.cards for one in at_once),
        unit=profiles[0].unit,
        regions_per_page=mean("regions_per_page"),
        prompt_tokens_per_page=mean("prompt_tokens_per_page"),
        generation_tokens_per_page=mean("generation_tokens_per_page"),
        energy_kwh_per_million=mean("energy_kwh_per_million"),
        price=mean("price"),
        price_per_million=mean("price_per_million"),
        spent=sum(spent) if spent else None,
    )


def _own_cost(profile: Profile) -> RunCost | None:
    return profile.cost or cost.cost(profile)


def _at_once(profiles: Sequence[Profile]) -> list[Profile]:
    """Returns those that were at work in the moment with the most; they come in the order of their starts."""
    most: list[Profile] = []
    working: list[Profile] = []
    for profile in profiles:
        working = [one for one in working if _ended(one) > _began(profile) + NO_OVERLAP_S] + [profile]
        most = max(most, working, key=len)
    return most


def _worked_s(profiles: Sequence[Profile]) -> float:
    """Returns the seconds in which any worked; they come in the order of their starts."""
    total, until = 0.0, float("-inf")
    for profile in profiles:
        total += max(0.0, _ended(profile) - max(until, _began(profile)))
        until = max(until, _ended(profile))
    return total


def _began(profile: Profile) -> float:
    try:
        return datetime.fromisoformat(profile.started).timestamp()
    except ValueError as exc:
        raise UsageError(
            f"A profile says that its run began at {profile.started!r}.", "Name one rank: OUT/ranks/1-of-8."
        ) from exc


def _ended(profile: Profile) -> float:
    return _began(profile) + profile.seconds


def _mean(values: Sequence[float], weights: Sequence[float]) -> float:
    whole = sum(weights)
    return (
        sum(value * weight for value, weight in zip(values, weights, strict=True)) / whole if whole else 0.0
    )
