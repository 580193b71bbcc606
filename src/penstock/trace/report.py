"""A run's profile in words and pictures: what bounds it, what to change, how long more would take.

Reads the plain dict that is `profile.json` and computes no spans. `render_html` gives one page that
needs nothing else: no script, no font, no network.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from html import escape
from importlib import resources
from pathlib import Path
from string import Template
from typing import Any

from penstock.errors import StoreError, UsageError
from penstock.trace import cost, drawing, live, phrases

Profile = Mapping[str, Any]

VERSION = 1
PROJECTED = (10_000, 40_781)  # a round number, and KoPub's corpus, which the kopub recipe reads
SATURATED = 0.7  # a bottleneck less busy than this is waiting for something the stages do not show
FEW_PAGES = 20  # twice what the embedded recipe has in flight on 2 cores: fewer never fill the pipe
NOTABLE = 0.05  # smaller shares of waiting are noise
TEXT_STAGES = 8  # stages the terminal summary has lines for; it stays within 15


def bottleneck_sentence(profile: Profile) -> str:
    """What held the run up, and one sentence on what to change."""
    return f"{finding(profile)} {advice(profile)}"


def finding(profile: Profile) -> str:
    """ "Bottleneck: recognise, busy 97 %; load blocked 61 %; compose starved 88 %."."""
    stage = _bottleneck(profile)
    if stage is None:
        return "Nothing could be read." if _all_failed(profile) else "Nothing ran."
    if _is_too_short(profile, stage):
        unit = phrases.unit(profile)
        each = phrases.duration(stage["busy_s"] / stage["items"]) if stage["items"] else "nothing"
        return f"Too few {unit}s to fill the pipe. Most time went into {stage['name']}, {each} a {unit}."
    parts = [f"Bottleneck: {stage['name']}, busy {phrases.percent(stage['busy'])}"]
    before, after = _around(profile["stages"], stage)
    for neighbours, state in ((before, "blocked"), (after, "starved")):
        worst = max(neighbours, key=lambda other: float(other[state]), default=None)
        if worst is not None and worst[state] >= NOTABLE:
            parts.append(f"{worst['name']} {state} {phrases.percent(worst[state])}")
    told = "; ".join(parts) + "."
    return f"{told} Batches {phrases.percent(stage['batch_fill'])} full." if _batches(stage) else told


def advice(profile: Profile) -> str:
    """One sentence on what to change first."""
    stage = _bottleneck(profile)
    if _all_failed(profile):
        return "See failures/ for the reasons."
    if stage is None:
        return f"Every {phrases.unit(profile)} was done before, or there was no input."
    name = stage["name"]
    startup_s = cost.startup_s(profile)
    if startup_s > 0.3 * profile["seconds"]:
        return (
            f"Opening the models took {phrases.duration(startup_s)}"
            f" of {phrases.duration(profile['seconds'])}: "
            f"run more {phrases.unit(profile)}s to see the pipeline's own speed."
        )
    if (profile.get("bounds") or {}).get("stage") == name:
        return str(profile["bounds"]["sentence"])
    if _is_too_short(profile, stage):
        unit = phrases.unit(profile)
        return f"A longer run of such {unit}s could go at {phrases.rate(_pace(profile, stage))} {unit}s/s."
    if stage["busy"] < SATURATED:
        return _advice_when_idle(profile["stages"][0], stage)
    if _batches(stage) and stage["batch_fill"] < 0.6:
        return f"Let batches fill: give {name} a longer linger, or a smaller batch."
    return _advice_when_saturated(profile, stage)


def _is_too_short(profile: Profile, stage: Profile) -> bool:
    """Whether the pipe was filling and draining all the time, so that waiting says nothing."""
    few = profile["items"] + profile["failed"] < FEW_PAGES
    return bool(few and stage["busy"] < SATURATED and not stage["restarts"])


def _pace(profile: Profile, stage: Profile) -> float:
    """Pages a second of a full pipe: what the slowest stage can, and what the cores have time for."""
    by_stage = float(stage["capacity_per_s"])
    cpu_s, finished = profile.get("cpu_s"), profile["items"] + profile["failed"]
    if not cpu_s or profile["hardware"]["gpus"]:
        return by_stage
    return min(by_stage, float(profile["hardware"]["cores"] * finished / cpu_s))


def _advice_when_idle(first: Profile, stage: Profile) -> str:
    if first["starved"] > 0.5:
        return f"{first['name']} itself waited for input: read it from a faster disk, or in larger pieces."
    if stage["restarts"]:
        restarts = phrases.plural(stage["restarts"], "restart")
        return f"{stage['name']} lost time in {restarts}: see failures/ for what ended it."
    return "No stage is busy all the time: allow more work in flight (overlap, or more workers)."


def _advice_when_saturated(profile: Profile, stage: Profile) -> str:
    name, hardware = stage["name"], profile["hardware"]
    if hardware["gpus"]:
        return (
            f"{name} sets the pace: more overlap if its GPU is not full, else a faster engine or another GPU."
        )
    idle = hardware["cores"] - _cores_used(profile)
    if idle >= 0.5:
        return (
            f"About {idle:.1f} of {hardware['cores']} cores did not work for this run: other programs had "
            f"them, or give {name} more of them (--cores)."
        )
    return f"No core sits idle: next comes a faster engine for {name}, fewer pixels, or more cores."


def _cores_used(profile: Profile) -> float:
    """On the average. Of a profile without CPU time an upper bound: calls that overlap wait for a core."""
    spent = profile.get("cpu_s") or sum(stage["busy_s"] for stage in profile["stages"])
    return float(spent) / float(profile["seconds"])


def projection(profile: Profile) -> dict[int, float]:
    """Seconds for 10,000 and 40,781 pages at this rate. Start-up is paid once; empty if nothing ran."""
    found = {pages: cost.seconds_for(profile, pages) for pages in PROJECTED}
    return {pages: seconds for pages, seconds in found.items() if seconds is not None}


def pages_per_s(profile: Profile) -> float:
    """Of the whole run, opening included."""
    finished: int = profile["items"] + profile["failed"]
    return finished / profile["seconds"] if profile["seconds"] > 0 else 0.0


def render_text(profile: Profile, price: float | None = None) -> str:
    """The terminal's summary: at most 15 lines, and 7 more for a run that had cards or servers.

    `price` is that of an hour of one card, for what a million pages would cost.
    """
    lines = [finding(profile), advice(profile), "", _totals_line(profile), *_projection_line(profile)]
    if profile["stages"]:
        lines += ["", *_text_table(profile["stages"])]
    watched = [line for line in live.text_lines(profile, price) if line not in lines]  # the advice, at times
    return "\n".join([*lines, *([""] if watched else []), *watched])


def render_html(profile: Profile) -> str:
    """One self-contained page."""
    template = Template(resources.files("penstock.trace").joinpath("report.html").read_text("utf-8"))
    return template.substitute(
        started=escape(str(profile["started"])[:16].replace("T", " ")),
        headline=_headline(profile),
        advice=escape(advice(profile)),
        unit=escape(phrases.unit(profile)),
        figures=_figures(profile),
        projection=_projected(profile),
        pipe=drawing.pipe(profile["stages"], str(profile["bottleneck"] or "")),
        timeline=drawing.timeline(profile),
        live=live.section(profile),
        rows="".join(_row(stage, profile["bottleneck"]) for stage in profile["stages"]),
        hardware=escape(_hardware(profile["hardware"])),
        executor=escape(str(profile["executor"])),
        command=escape(str(profile["command"])),
    )


def write(profile: Profile, folder: Path) -> None:
    """Writes profile.json and profile.html; a reader sees the old file or the new one, never half."""
    texts = {
        "profile.json": json.dumps(profile, ensure_ascii=False, indent=1) + "\n",
        "profile.html": render_html(profile),
    }
    for name, text in texts.items():
        # a fixed name: what a killed run leaves behind, the next one takes away
        temporary = folder / f".{name}.tmp"
        try:
            temporary.write_text(text, encoding="utf-8")
            temporary.replace(folder / name)
        except OSError as exc:
            raise StoreError(f"Cannot write {folder / name}: {exc.strerror or exc}.") from exc


def read(folder: Path) -> Profile:
    """The profile that `write` left in `folder`."""
    path = folder / "profile.json"
    try:
        profile = json.loads(path.read_text("utf-8"))
    except FileNotFoundError as exc:
        raise UsageError(f"{folder} holds no profile.json.", "Is it the OUT folder of a run?") from exc
    except (OSError, ValueError) as exc:
        raise UsageError(f"{path} cannot be read: {exc}.", "Run again to write it anew.") from exc
    if not isinstance(profile, dict) or profile.get("version") != VERSION:
        raise UsageError(f"{path} is not a version {VERSION} profile.", "Run again to write it anew.")
    return profile


def _bottleneck(profile: Profile) -> Profile | None:
    """None where no page got to its end: what failed says nothing of the pipe."""
    found = [stage for stage in profile["stages"] if stage["name"] == profile["bottleneck"]]
    return found[0] if found and profile["items"] else None


def _all_failed(profile: Profile) -> bool:
    return bool(profile["failed"]) and not profile["items"]


def _around(stages: Sequence[Profile], stage: Profile) -> tuple[Sequence[Profile], Sequence[Profile]]:
    place = [other["name"] for other in stages].index(stage["name"])
    return stages[:place], stages[place + 1 :]


def _batches(stage: Profile) -> bool:
    """Whether the stage takes more than one item a call, so that its fill says something."""
    return bool(stage["calls"]) and (stage["batch_fill"] < 1 or stage["items"] > stage["calls"])


def _totals_line(profile: Profile) -> str:
    parts = [
        f"{phrases.plural(profile['items'], phrases.unit(profile))}"
        f" in {phrases.duration(profile['seconds'])}",
        f"{phrases.rate(pages_per_s(profile))} {phrases.unit(profile)}s/s",
        f"{phrases.count(profile['failed'])} failed",
        f"peak memory {phrases.memory(profile['peak_rss_mb'])}",
    ]
    if profile.get("cpu_s"):
        parts.insert(3, f"{_cores_used(profile):.1f} of {profile['hardware']['cores']} cores used")
    if profile["skipped"]:
        parts.insert(1, f"{phrases.count(profile['skipped'])} done before")
    return ", ".join(parts) + "."


def _projection_line(profile: Profile) -> list[str]:
    unit = phrases.unit(profile)
    told = [
        f"{phrases.count(num)} {unit}s in {phrases.duration(s)}" for num, s in projection(profile).items()
    ]
    return [f"At this rate: {', '.join(told)}."] if told else []


def _text_table(stages: Sequence[Profile]) -> list[str]:
    busiest = sorted(stages, key=lambda stage: -float(stage["busy"]))[:TEXT_STAGES]
    shown = [stage for stage in stages if stage in busiest]
    width = max(len(stage["name"]) for stage in shown)
    lines = [f"{'stage':<{width}}     busy  starved  blocked  could do/s   p95 ms"]
    for stage in shown:
        shares = [phrases.percent(stage[state]) for state in ("busy", "starved", "blocked")]
        lines.append(
            f"{stage['name']:<{width}} {shares[0]:>8} {shares[1]:>8} {shares[2]:>8}"
            f" {_or_dash(stage['capacity_per_s']):>11} {_or_dash(stage['p95_ms']):>8}"
        )
    return lines


def _or_dash(number: float | None) -> str:
    return phrases.rate(number) if number else "–"


def _headline(profile: Profile) -> str:
    """The finding, with its stage marked, that breaks only between clauses."""
    clauses = [escape(clause) for clause in finding(profile).split("; ")]
    stage = _bottleneck(profile)
    if stage is not None:
        name = escape(stage["name"])
        clauses[0] = clauses[0].replace(f" {name},", f" <em>{name}</em>,", 1)
    return "; ".join(f"<span>{clause}</span>" for clause in clauses)


def _figures(profile: Profile) -> str:
    failed = profile["failed"]
    figures = [
        (phrases.rate(pages_per_s(profile)), f"{phrases.unit(profile)}s a second", ""),
        (phrases.count(profile["items"]), _pages_note(profile), ""),
        (phrases.count(failed), "failed", "bad" if failed else "good"),
        (phrases.duration(profile["seconds"]), "from start to end", ""),
        (phrases.memory(profile["peak_rss_mb"]), "peak memory", ""),
        *live.figures(profile),
    ]
    return "".join(
        f'<div class="figure {kind}"><b>{escape(number)}</b><span>{escape(note)}</span></div>'
        for number, note, kind in figures
    )


def _pages_note(profile: Profile) -> str:
    skipped = profile["skipped"]
    more = f", {phrases.count(skipped)} more done before" if skipped else ""
    return f"{phrases.unit(profile)}s{more}"


def _projected(profile: Profile) -> str:
    unit = escape(phrases.unit(profile))
    told = [
        f"<span><b>{phrases.count(num)}</b> {unit}s would take <b>{phrases.duration(seconds)}</b></span>"
        for num, seconds in projection(profile).items()
    ]
    return f'<p class="projection">At this rate {" ".join(told)}</p>' if told else ""


def _row(stage: Profile, bottleneck: str) -> str:
    cells = [
        _workers(stage),
        phrases.percent(stage["busy"]),
        phrases.count(stage["items"]),
        _or_dash(stage["capacity_per_s"]),
        _or_dash(stage["p50_ms"]),
        _or_dash(stage["p95_ms"]),
        phrases.percent(stage["batch_fill"]) if _batches(stage) else "–",
        phrases.duration(stage["open_s"]) if stage["open_s"] >= 0.05 else "–",
        _mishaps(stage),
    ]
    kind = ' class="bottleneck"' if stage["name"] == bottleneck else ""
    name = f'<th scope="row">{escape(stage["name"])}</th><td class="bar">{drawing.bar(stage)}</td>'
    return f"<tr{kind}>{name}{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>\n"


def _workers(stage: Profile) -> str:
    own = phrases.plural(stage["workers"], "process", "processes")
    told = own if stage["process"] else str(stage["workers"])
    return told + (f" × {stage['overlap']} calls" if stage["overlap"] > 1 else "")


def _mishaps(stage: Profile) -> str:
    failed = [f"{phrases.count(stage['failed'])} failed"] if stage["failed"] else []
    restarts = [phrases.plural(stage["restarts"], "restart")] if stage["restarts"] else []
    return ", ".join(failed + restarts) or "–"


def _hardware(hardware: Profile) -> str:
    gpus = ", ".join(str(gpu) for gpu in hardware["gpus"]) or "no GPU"
    return f"{hardware['cpu']}, {hardware['cores']} cores, {hardware['memory_gb']:.1f} GB memory, {gpus}"
