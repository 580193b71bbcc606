"""The report's part on cards and servers: a few lines of text, a section of the page.

Both are empty for a run that was not watched or had neither.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from penstock.sizes import MIB, memory_size
from penstock.trace import bounds, cost, live_tables, phrases
from penstock.trace.pictures.charts import ChartLine, chart
from penstock.trace.profile import (
    GpuProfile,
    MeanAndPeak,
    Profile,
    RequestsProfile,
    ServerBounds,
    ServerProfile,
)

Figure = tuple[str, str, str]  # the number, what it is, its class
CARD_WIDTH = 40  # letters of a card's name that fit a line
PHASES = 4  # stages that fit a line; the page has all
HEADING = """<section>
<h2>Cards and servers</h2>
<p class="note">{note}</p>
<div class="charts">{charts}</div>
{tables}</section>
"""


def text_lines(profile: Profile) -> list[str]:
    """At most nine lines: cards in three, servers in two, requests, limits in two, a million items."""
    lines = _card_lines(profile.gpu) if profile.gpu else []
    if profile.servers:
        lines += _server_lines(profile.servers.each)
    if profile.requests:
        lines.append(_request_line(profile.requests))
    if profile.bounds:
        known = bounds.sentence(profile.bounds)
        lines += [f"At once: {known}."] if known else []
        lines.append(profile.bounds.sentence)
    return [*lines, cost.sentence(profile.cost)] if profile.cost else lines


def figures(profile: Profile) -> list[Figure]:
    """Tiles for the page: load, memory, energy, requests, tokens."""
    made = _gpu_figures(profile.gpu) if profile.gpu else []
    if asked := profile.requests:
        within = f"median request, 95 % within {live_tables.latency(asked.p95_s)}"
        made.append((live_tables.latency(asked.p50_s), within, ""))
    return [*made, *_cost_figures(profile)]


def section(profile: Profile) -> str:
    """The page's part with charts over time."""
    charts, numbers = _charts(profile), live_tables.tables(profile)
    if not charts and not numbers:
        return ""
    return HEADING.format(note=_note(profile.bounds), charts=charts, tables=numbers)


def _gpu_figures(gpu: GpuProfile) -> list[Figure]:
    made: list[Figure] = []
    if (load := _mean(gpu.mean_loads)) is not None:
        made.append((phrases.percent(load), f"GPU load, {phrases.plural(len(gpu.cards), 'card')}", ""))
    if peak := _memory_peak(gpu):
        made.append((memory_size(peak * MIB), "peak GPU memory", ""))
    if (bus := _mean([card.bandwidth.mean for card in gpu.cards if card.bandwidth])) is not None:
        made.append((phrases.percent(bus), "GPU memory bus busy", ""))
    if gpu.energy_wh:
        made.append((_energy(gpu.energy_wh), "used by the cards", ""))
    return made


def _cost_figures(profile: Profile) -> list[Figure]:
    made: list[Figure] = []
    spent, unit = profile.cost, profile.unit
    if spent is None:
        return made
    if spent.generation_tokens_per_page is not None:
        read = spent.prompt_tokens_per_page
        note = f"tokens out a {unit}" + (f", {phrases.rate(read)} in" if read else "")
        made.append((phrases.rate(spent.generation_tokens_per_page), note, ""))
    hours = "GPU hours" if spent.cards else "hours"
    made.append((phrases.rate(spent.hours_per_million), f"{hours} for a million {unit}s", ""))
    return made


def _note(found: ServerBounds | None) -> str:
    if found is None:
        return "Sampled once a second."
    known = bounds.sentence(found)
    could = f" Could run at once: {escape(known)}." if known else ""
    return f"<b>{escape(found.sentence)}</b>{could}"


def _card_lines(gpu: GpuProfile) -> list[str]:
    """Load and energy; memory where it was read; the stages at work, busiest first."""
    count = f"{len(gpu.cards)} × " if len(gpu.cards) > 1 else ""
    name = count + _card_names(gpu)
    parts = [name if len(name) <= CARD_WIDTH else name[: CARD_WIDTH - 1] + "…"]
    if (load := _mean(gpu.mean_loads)) is not None:
        parts.append(f"busy {phrases.percent(load)}{_median_and_peak(gpu)}")
    watts = [card.power_w.mean for card in gpu.cards if card.power_w]
    if watts:
        parts.append(f"{sum(watts):,.0f} W")
    if gpu.energy_wh:
        parts.append(_energy(gpu.energy_wh))
    return [f"GPU: {', '.join(parts)}.", *_memory_line(gpu), *_phase_line(gpu)]


def _median_and_peak(gpu: GpuProfile) -> str:
    median = _mean([card.load_p50 for card in gpu.cards])
    if median is None:
        return ""
    peak = max(card.load.peak for card in gpu.cards if card.load)
    return f" (median {phrases.percent(median)}, peak {phrases.percent(peak)})"


def _memory_line(gpu: GpuProfile) -> list[str]:
    peak, mean = _memory_peak(gpu), _mean([card.memory_mean_mb for card in gpu.cards])
    parts = []
    if peak is not None:
        total = max((card.memory_total_mb or 0.0 for card in gpu.cards), default=0.0)
        of = f" of {memory_size(total * MIB)}" if total else ""
        used = f"{memory_size(mean * MIB)}, " if mean is not None else ""
        parts.append(f"memory {used}peak {memory_size(peak * MIB)}{of}")
    buses = [card.bandwidth for card in gpu.cards if card.bandwidth]
    if (bus := _mean([one.mean for one in buses])) is not None:
        highest = max(one.peak for one in buses)
        parts.append(f"its bus busy {phrases.percent(bus)} (peak {phrases.percent(highest)})")
    return [f"GPU {', '.join(parts)}."] if parts else []


def _phase_line(gpu: GpuProfile) -> list[str]:
    known = [(phase.name or live_tables.NO_STAGE, phase.load) for phase in gpu.phases if phase.load]
    busiest = sorted(known, key=lambda pair: -pair[1].mean)[:PHASES]
    loads = [f"{name} {phrases.percent(load.mean)}" for name, load in busiest]
    return [f"GPU load while a stage worked: {', '.join(loads)}."] if len(loads) > 1 else []


def _request_line(asked: RequestsProfile) -> str:
    times = zip(("median", "95 %", "99 %"), (asked.p50_s, asked.p95_s, asked.p99_s), strict=True)
    parts = [f"Requests: {phrases.count(asked.answered)} answered"]
    parts += [f"{name} {live_tables.latency(seconds)}" for name, seconds in times]
    if asked.prompt_tokens_per_s is not None and asked.completion_tokens_per_s is not None:
        parts.append(f"{phrases.rate(asked.prompt_tokens_per_s)} tokens/s in")
        parts.append(f"{phrases.rate(asked.completion_tokens_per_s)} out")
    return f"{', '.join(parts)}."


def _server_lines(each: Sequence[ServerProfile]) -> list[str]:
    busy = [server for server in each if server.running]
    if not busy:
        return [f"{phrases.plural(len(each), 'server')}: no request was seen running."]
    parts = [
        f"running {_sum(server.running for server in busy)}",
        f"waiting {_sum(server.waiting for server in busy)}",
    ]
    uses = [server.kv for server in busy if server.kv]
    if uses:
        mean = sum(use.mean for use in uses) / len(uses)
        peak = max(use.peak for use in uses)
        parts.append(f"KV cache {phrases.percent(mean)} (peak {phrases.percent(peak)})")
    return [f"{phrases.plural(len(each), 'server')}: {', '.join(parts)}.", *_token_line(busy)]


def _token_line(servers: Sequence[ServerProfile]) -> list[str]:
    requests = sum(server.requests for server in servers)
    if not requests:
        return []
    parts = [
        phrases.plural(requests, "request"),
        f"{phrases.count(sum(server.prompt_tokens for server in servers))} tokens in",
        f"{phrases.count(sum(server.generation_tokens for server in servers))} out",
    ]
    hits = {
        "prefix": _mean([server.prefix_hit_share for server in servers]),
        "picture": _mean([server.mm_hit_share for server in servers]),
    }
    parts += [f"{name} cache hits {phrases.percent(hit)}" for name, hit in hits.items() if hit is not None]
    if preempted := sum(server.preemptions for server in servers):
        parts.append(f"{phrases.count(preempted)} preempted")
    return [f"{', '.join(parts)}."]


def _charts(profile: Profile) -> str:
    drawn, seconds = "", profile.seconds
    if gpu := profile.gpu:
        pairs = zip(gpu.cards, gpu.timeline.load, strict=False)
        lines = [ChartLine(f"{card.index}: {card.name}", gpu.timeline.bin_s, load) for card, load in pairs]
        drawn += chart("GPU load", _card_names(gpu), lines, seconds, share=True)
    if servers := profile.servers:
        time = servers.timeline
        queues = [
            ChartLine("running", time.bin_s, time.running),
            ChartLine("waiting", time.bin_s, time.waiting, kind=1),
        ]
        drawn += chart("Requests", "running, and waiting in red", queues, seconds)
        uses = zip(servers.each, time.kv, strict=False)
        kv = [ChartLine(server.url, time.bin_s, use) for server, use in uses]
        drawn += chart("KV cache", "share in use", kv, seconds, share=True)
    return drawn


def _card_names(gpu: GpuProfile) -> str:
    return ", ".join(sorted({card.name for card in gpu.cards}))


def _memory_peak(gpu: GpuProfile) -> float | None:
    return max((card.memory_peak_mb for card in gpu.cards if card.memory_peak_mb is not None), default=None)


def _mean(numbers: Sequence[float | None]) -> float | None:
    known = [number for number in numbers if number is not None]
    return sum(known) / len(known) if known else None


def _sum(levels: Iterable[MeanAndPeak | None]) -> str:
    """ "960 (peak 1,024)"."""
    known = [level for level in levels if level]
    mean, peak = sum(level.mean for level in known), sum(level.peak for level in known)
    return f"{phrases.count(round(mean))} (peak {phrases.count(round(peak))})"


def _energy(watt_hours: float) -> str:
    return f"{watt_hours / 1000:.2f} kWh" if watt_hours >= 1000 else f"{watt_hours:.1f} Wh"
