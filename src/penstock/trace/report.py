"""Tells a run's profile in words and pictures: its bottleneck, what to change, how long more would take.

`render_html` returns one page that needs nothing else: no script, no font, no network.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from importlib import resources
from pathlib import Path
from string import Template

from penstock.errors import UsageError
from penstock.sizes import GIB, MIB, memory_size
from penstock.trace import cost, live, phrases
from penstock.trace.pictures import drawing
from penstock.trace.profile import HardwareFacts, Profile, StageProfile

FILE = "profile.json"
PROJECTED = (10_000, 100_000)
SATURATED = 0.7  # a bottleneck less busy than this is waiting for something the stages do not show
FEW_ITEMS = 20  # twice what the built-in recipe has in flight on 2 cores: fewer never fill the pipe
NOTABLE = 0.05  # smaller shares of waiting are noise
TEXT_RANKS = 8  # the longest: they decide when a run ends
TEXT_STAGES = 8  # stages the terminal summary has lines for; it stays within 15


def finding(profile: Profile) -> str:
    """ "Bottleneck: recognise, busy 97 %; load blocked 61 %; compose starved 88 %."."""
    stage = _bottleneck(profile)
    if stage is None:
        return "Nothing could be read." if _all_failed(profile) else "Nothing ran."
    if _is_too_short(profile, stage):
        unit = profile.unit
        each = phrases.duration(stage.busy_s / stage.items) if stage.items else "nothing"
        return f"Too few {unit}s to fill the pipe. Most time went into {stage.name}, {each} a {unit}."
    parts = [f"Bottleneck: {stage.name}, busy {phrases.percent(stage.busy)}"]
    place = profile.stages.index(stage)
    before, after = profile.stages[:place], profile.stages[place + 1 :]
    for neighbours, state in ((before, "blocked"), (after, "starved")):
        shares = {other.name: other.shares[state] for other in neighbours}
        worst = max(shares, key=lambda name: shares[name], default="")
        if worst and shares[worst] >= NOTABLE:
            parts.append(f"{worst} {state} {phrases.percent(shares[worst])}")
    sentence = "; ".join(parts) + "."
    return f"{sentence} Batches {phrases.percent(stage.batch_fill)} full." if _batches(stage) else sentence


def advice(profile: Profile) -> str:
    """One sentence on what to change first."""
    stage = _bottleneck(profile)
    if _all_failed(profile):
        return "See failures/ for the reasons."
    if stage is None:
        return f"Every {profile.unit} was done before, or there was no input."
    name = stage.name
    startup_s = cost.startup_s(profile)
    if startup_s > 0.3 * profile.seconds:
        return (
            f"Opening the models took {phrases.duration(startup_s)}"
            f" of {phrases.duration(profile.seconds)}: "
            f"run more {profile.unit}s to see the pipeline's own speed."
        )
    if profile.bounds and profile.bounds.stage == name:
        return profile.bounds.sentence
    if _is_too_short(profile, stage):
        unit = profile.unit
        return f"A longer run of such {unit}s could go at {phrases.rate(_pace(profile, stage))} {unit}s/s."
    if stage.busy < SATURATED:
        return _advice_when_idle(profile.stages[0], stage)
    if _batches(stage) and stage.batch_fill < 0.6:
        return f"Let batches fill: give {name} a longer linger, or a smaller batch."
    return _advice_when_saturated(profile, stage)


def _is_too_short(profile: Profile, stage: StageProfile) -> bool:
    """Whether the pipe only filled and drained, so that waiting says nothing."""
    few = profile.finished < FEW_ITEMS
    return few and stage.busy < SATURATED and not stage.restarts


def _pace(profile: Profile, stage: StageProfile) -> float:
    """Items a second of a full pipe: what the slowest stage can do, and what the cores have time for."""
    if not profile.cpu_s or profile.hardware.gpus:
        return stage.capacity_per_s
    return min(stage.capacity_per_s, profile.hardware.cores * profile.finished / profile.cpu_s)


def _advice_when_idle(first: StageProfile, stage: StageProfile) -> str:
    if first.starved > 0.5:
        return f"{first.name} itself waited for input: read it from a faster disk, or in larger pieces."
    if stage.restarts:
        restarts = phrases.plural(stage.restarts, "restart")
        return f"{stage.name} lost time in {restarts}: see failures/ for what ended it."
    return "No stage is busy all the time: allow more work in flight (overlap, or more workers)."


def _advice_when_saturated(profile: Profile, stage: StageProfile) -> str:
    name, hardware = stage.name, profile.hardware
    if hardware.gpus:
        return (
            f"{name} sets the pace: more overlap if its GPU is not full, else a faster engine or another GPU."
        )
    idle = hardware.cores - _cores_used(profile)
    if idle >= 0.5:
        return (
            f"About {idle:.1f} of {hardware.cores} cores did not work for this run: other programs had "
            f"them, or give {name} more of them (--cores)."
        )
    return f"No core sits idle: next comes a faster engine for {name}, fewer pixels, or more cores."


def _cores_used(profile: Profile) -> float:
    """The mean over the run. Without CPU time it is an upper bound: calls that overlap wait for a core."""
    spent = profile.cpu_s or sum(stage.busy_s for stage in profile.stages)
    return spent / profile.seconds


def projection(profile: Profile) -> dict[int, float]:
    """Returns seconds at this rate for all items that the run was a sample of, or for 10,000 and 100,000.

    Start-up is paid once; empty if nothing ran.
    """
    asked = (profile.whole,) if profile.whole else PROJECTED
    found = {items: cost.seconds_for(profile, items) for items in asked}
    return {items: seconds for items, seconds in found.items() if seconds is not None}


def render_text(profile: Profile) -> str:
    """The terminal's summary: at most 15 lines, and 10 more for a run that had cards or servers."""
    about = [_totals_line(profile), *readers_line(profile), *_projection_line(profile)]
    lines = [finding(profile), advice(profile), "", *about]
    if profile.stages:
        lines += ["", *_text_table(profile.stages, profile.whole)]
    watched = [
        line for line in live.text_lines(profile) if line not in lines
    ]  # the advice may be one of them
    return "\n".join([*lines, *([""] if watched else []), *watched, *_rank_lines(profile)])


def render_html(profile: Profile) -> str:
    """One self-contained page."""
    template = Template(resources.files("penstock.trace").joinpath("report.html").read_text("utf-8"))
    return template.substitute(
        started=escape(profile.started[:16].replace("T", " ")),
        headline=_headline(profile),
        advice=escape(advice(profile)),
        unit=escape(profile.unit),
        figures=_figures(profile),
        projection=_projected(profile),
        pipe=drawing.pipe(profile.stages, profile.bottleneck),
        timeline=drawing.timeline(profile),
        live=live.section(profile),
        rows="".join(_row(stage, profile.bottleneck) for stage in profile.stages),
        hardware=escape(_hardware(profile.hardware)),
        executor=escape(profile.executor),
        command=escape(profile.command),
    )


def files(profile: Profile) -> dict[str, str]:
    """Returns profile.json and profile.html by name."""
    return {
        FILE: json.dumps(profile.to_dict(), ensure_ascii=False, indent=1) + "\n",
        "profile.html": render_html(profile),
    }


def read(folder: Path) -> Profile:
    """The profile that `write` left in `folder`."""
    path = folder / FILE
    try:
        return Profile.from_dict(json.loads(path.read_text("utf-8")))
    except FileNotFoundError as exc:
        raise UsageError(f"{folder} holds no {FILE}.", "Is it the OUT folder of a run?") from exc
    except (OSError, ValueError) as exc:
        raise UsageError(f"{path} cannot be read: {exc}.", "Run again to write it anew.") from exc


def _bottleneck(profile: Profile) -> StageProfile | None:
    """None if no item got to its end: failures say nothing about speed."""
    found = [stage for stage in profile.stages if stage.name == profile.bottleneck]
    return found[0] if found and profile.items else None


def _all_failed(profile: Profile) -> bool:
    return bool(profile.failed) and not profile.items


def _batches(stage: StageProfile) -> bool:
    """Whether the stage takes more than one item a call; else its fill says nothing."""
    return bool(stage.calls) and (stage.batch_fill < 1 or stage.items > stage.calls)


def _totals_line(profile: Profile) -> str:
    parts = [
        f"{phrases.plural(profile.items, profile.unit)} in {phrases.duration(profile.seconds)}",
        f"{phrases.rate(profile.items_per_s)} {profile.unit}s/s",
        f"{phrases.count(profile.failed)} failed",
        f"peak memory {memory_size(profile.peak_rss_mb * MIB)}",
    ]
    if profile.cpu_s:
        parts.insert(3, f"{_cores_used(profile):.1f} of {profile.hardware.cores} cores used")
    if profile.skipped:
        parts.insert(1, f"{phrases.count(profile.skipped)} done before")
    return ", ".join(parts) + "."


def readers_line(profile: Profile) -> list[str]:
    """Returns who read the pages, for a recipe that chooses; what is not the server's was saved."""
    counts = {"server": 0, "built-in": 0, "layer": 0, **profile.readers}
    if not profile.readers:
        return []
    pages = sum(counts.values())
    share = phrases.percent(counts["server"] / pages)
    return [
        f"The server read {counts['server']} of {phrases.plural(pages, profile.unit)} ({share}), the built-in"
        f" readers {counts['built-in']}, {counts['layer']} are from their files."
    ]


def estimate(profile: Profile) -> str:
    """ "at this rate all 40,781 pages take 12 h 35 min"; "" for a run that was no sample."""
    seconds = projection(profile).get(profile.whole) if profile.whole > profile.finished else None
    if seconds is None:
        return ""
    return f"at this rate all {phrases.plural(profile.whole, profile.unit)} take {phrases.duration(seconds)}"


def _projection_line(profile: Profile) -> list[str]:
    unit = profile.unit
    times = [
        f"{phrases.plural(num, unit)} in {phrases.duration(s)}" for num, s in projection(profile).items()
    ]
    return [f"At this rate: {', '.join(times)}."] if times else []


def _text_table(stages: Sequence[StageProfile], whole: int) -> list[str]:
    """Returns a line a stage; with `whole` also how long each would take for so many items by itself."""
    busiest = sorted(stages, key=lambda stage: -stage.busy)[:TEXT_STAGES]
    shown = [stage for stage in stages if stage in busiest]
    width = max(len(stage.name) for stage in shown)
    head = f"{'stage':<{width}}     busy  starved  blocked  could do/s   p95 ms"
    lines = [f"{head}  {f'for {phrases.count(whole)}':>14}" if whole else head]
    for stage in shown:
        shares = [phrases.percent(share) for share in stage.shares.values()]
        line = (
            f"{stage.name:<{width}} {shares[0]:>8} {shares[1]:>8} {shares[2]:>8}"
            f" {_or_dash(stage.capacity_per_s):>11} {_or_dash(stage.p95_ms):>8}"
        )
        lines.append(f"{line}  {_alone(stage, whole):>14}" if whole else line)
    return lines


def _rank_lines(profile: Profile) -> list[str]:
    ranks = profile.ranks or ()
    if not ranks:
        return []
    shown = ranks[:TEXT_RANKS]
    width = max(len("rank"), *(len(rank.name) for rank in shown))
    lines = ["", f"{'rank':<{width}} {profile.unit + 's':>10}   failed  {profile.unit + 's/s':>8}  took"]
    lines += [
        f"{rank.name:<{width}} {phrases.count(rank.items):>10} {phrases.count(rank.failed):>8}"
        f"  {phrases.rate(rank.items_per_s):>8}  {phrases.duration(rank.seconds)}"
        for rank in shown
    ]
    left = len(ranks) - len(shown)
    return [*lines, f"and {phrases.plural(left, 'rank')} that took less."] if left else lines


def _alone(stage: StageProfile, items: int) -> str:
    return phrases.duration(items / stage.capacity_per_s) if stage.capacity_per_s else "–"


def _or_dash(number: float) -> str:
    return phrases.rate(number) if number else "–"


def _headline(profile: Profile) -> str:
    """The finding with its stage marked; lines break only between clauses."""
    clauses = [escape(clause) for clause in finding(profile).split("; ")]
    stage = _bottleneck(profile)
    if stage is not None:
        name = escape(stage.name)
        clauses[0] = clauses[0].replace(f" {name},", f" <em>{name}</em>,", 1)
    return "; ".join(f"<span>{clause}</span>" for clause in clauses)


def _figures(profile: Profile) -> str:
    failed = profile.failed
    figures = [
        (phrases.rate(profile.items_per_s), f"{profile.unit}s a second", ""),
        (phrases.count(profile.items), _pages_note(profile), ""),
        (phrases.count(failed), "failed", "bad" if failed else "good"),
        (phrases.duration(profile.seconds), "from start to end", ""),
        (memory_size(profile.peak_rss_mb * MIB), "peak memory", ""),
        *live.figures(profile),
    ]
    return "".join(
        f'<div class="figure {kind}"><b>{escape(number)}</b><span>{escape(note)}</span></div>'
        for number, note, kind in figures
    )


def _pages_note(profile: Profile) -> str:
    skipped = profile.skipped
    more = f", {phrases.count(skipped)} more done before" if skipped else ""
    return f"{profile.unit}s{more}"


def _projected(profile: Profile) -> str:
    unit = escape(profile.unit)
    times = [
        f"<span><b>{phrases.count(num)}</b> {unit}s would take <b>{phrases.duration(seconds)}</b></span>"
        for num, seconds in projection(profile).items()
    ]
    return f'<p class="projection">At this rate {" ".join(times)}</p>' if times else ""


def _row(stage: StageProfile, bottleneck: str) -> str:
    cells = [
        _workers(stage),
        phrases.percent(stage.busy),
        phrases.count(stage.items),
        _or_dash(stage.capacity_per_s),
        _or_dash(stage.p50_ms),
        _or_dash(stage.p95_ms),
        phrases.percent(stage.batch_fill) if _batches(stage) else "–",
        phrases.duration(stage.open_s) if stage.open_s >= 0.05 else "–",
        _mishaps(stage),
    ]
    kind = ' class="bottleneck"' if stage.name == bottleneck else ""
    name = f'<th scope="row">{escape(stage.name)}</th><td class="bar">{drawing.bar(stage)}</td>'
    return f"<tr{kind}>{name}{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>\n"


def _workers(stage: StageProfile) -> str:
    own = phrases.plural(stage.workers, "process", "processes")
    workers = own if stage.process else str(stage.workers)
    return workers + (f" × {stage.overlap} calls" if stage.overlap > 1 else "")


def _mishaps(stage: StageProfile) -> str:
    failed = [f"{phrases.count(stage.failed)} failed"] if stage.failed else []
    restarts = [phrases.plural(stage.restarts, "restart")] if stage.restarts else []
    return ", ".join(failed + restarts) or "–"


def _hardware(hardware: HardwareFacts) -> str:
    gpus = ", ".join(hardware.gpus) or "no GPU"
    return f"{hardware.cpu}, {hardware.cores} cores, {memory_size(hardware.memory_gib * GIB)} memory, {gpus}"
