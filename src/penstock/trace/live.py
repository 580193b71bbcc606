"""What the watch saw of cards and servers, for the report: a few lines of text, a section of the page.

Both are empty for a run that was not watched or had neither.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from penstock.trace import bounds, cost, phrases
from penstock.trace.charts import Line, chart

Profile = Mapping[str, Any]
Figure = tuple[str, str, str]  # the number, what it is, its class
CARD_WIDTH = 40  # letters of a card's name a line has room for
HEADING = """<section>
<h2>Cards and servers</h2>
<p class="note">{note}</p>
<div class="charts">{charts}</div>
</section>
"""


def text_lines(profile: Profile, price: float | None = None) -> list[str]:
    """At most six lines: cards, servers in two, what bounds them in two, what a million pages take."""
    lines = []
    if profile.get("gpu"):
        lines.append(_card_line(profile["gpu"]))
    if profile.get("servers"):
        lines += _server_lines(profile["servers"]["each"])
    if profile.get("bounds"):
        known = bounds.told(profile["bounds"])
        lines += [f"At once: {known}."] if known else []
        lines.append(profile["bounds"]["sentence"])
    found = profile.get("cost") or (cost.cost(profile) if price is not None else {})
    return [*lines, cost.told(found, price)] if found else lines


def figures(profile: Profile) -> list[Figure]:
    """Tiles for the page: load, memory, energy, tokens."""
    made: list[Figure] = []
    gpu, spent = profile.get("gpu") or {}, profile.get("cost") or {}
    if (load := _mean_load(gpu)) is not None:
        made.append((phrases.percent(load), f"GPU load, {phrases.plural(len(gpu['cards']), 'card')}", ""))
    peaks = [card["memory_peak_mb"] for card in gpu.get("cards", ()) if card["memory_peak_mb"]]
    if peaks:
        made.append((phrases.memory(max(peaks)), "peak GPU memory", ""))
    if gpu.get("energy_wh"):
        made.append((_energy(gpu["energy_wh"]), "used by the cards", ""))
    if "generation_tokens_per_page" in spent:
        read = spent.get("prompt_tokens_per_page")
        note = f"tokens out a {phrases.unit(profile)}" + (f", {phrases.rate(read)} in" if read else "")
        made.append((phrases.rate(spent["generation_tokens_per_page"]), note, ""))
    if "hours_per_million" in spent:
        unit = "GPU hours" if spent["cards"] else "hours"
        made.append(
            (phrases.rate(spent["hours_per_million"]), f"{unit} for a million {phrases.unit(profile)}s", "")
        )
    return made


def section(profile: Profile) -> str:
    """The page's part with charts over time."""
    charts = _charts(profile, float(profile["seconds"]))
    if not charts:
        return ""
    return HEADING.format(note=_note(profile.get("bounds")), charts=charts)


def _note(found: Profile | None) -> str:
    if not found:
        return "Sampled once a second."
    known = bounds.told(found)
    could = f" Could run at once: {escape(known)}." if known else ""
    return f"<b>{escape(found['sentence'])}</b>{could}"


def _card_line(gpu: Profile) -> str:
    cards = gpu["cards"]
    names = sorted({card["name"] for card in cards})
    name = (f"{len(cards)} × " if len(cards) > 1 else "") + ", ".join(names)
    parts = [name if len(name) <= CARD_WIDTH else name[: CARD_WIDTH - 1] + "…"]
    if (load := _mean_load(gpu)) is not None:
        parts.append(f"busy {phrases.percent(load)}")
    peaks = [card["memory_peak_mb"] for card in cards if card["memory_peak_mb"] is not None]
    if peaks:
        parts.append(f"peak memory {phrases.memory(max(peaks))}")
    watts = [card["power_w"]["mean"] for card in cards if card["power_w"]]
    if watts:
        parts.append(f"{sum(watts):,.0f} W")
    if gpu["energy_wh"]:
        parts.append(_energy(gpu["energy_wh"]))
    return f"GPU: {', '.join(parts)}."


def _server_lines(each: Sequence[Profile]) -> list[str]:
    busy = [server for server in each if server["running"]]
    if not busy:
        return [f"{phrases.plural(len(each), 'server')}: no request was seen running."]
    parts = [
        f"running {_sum(busy, 'running', 'mean')} (peak {_sum(busy, 'running', 'peak')})",
        f"waiting {_sum(busy, 'waiting', 'mean')} (peak {_sum(busy, 'waiting', 'peak')})",
    ]
    uses = [server["kv"] for server in busy if server["kv"]]
    if uses:
        mean = sum(use["mean"] for use in uses) / len(uses)
        parts.append(
            f"KV cache {phrases.percent(mean)} (peak {phrases.percent(max(u['peak'] for u in uses))})"
        )
    return [f"{phrases.plural(len(each), 'server')}: {', '.join(parts)}.", *_token_line(busy)]


def _token_line(servers: Sequence[Profile]) -> list[str]:
    sums = {
        name: sum(server.get(name, 0) for server in servers)
        for name in ("requests", "prompt_tokens", "generation_tokens", "preemptions")
    }
    if not sums["requests"]:
        return []
    parts = [
        phrases.plural(sums["requests"], "request"),
        f"{phrases.count(sums['prompt_tokens'])} tokens in",
        f"{phrases.count(sums['generation_tokens'])} out",
    ]
    for key, said in (("prefix_hit_share", "prefix"), ("mm_hit_share", "picture")):
        shares = [server[key] for server in servers if server[key] is not None]
        if shares:
            parts.append(f"{said} cache hits {phrases.percent(sum(shares) / len(shares))}")
    if sums["preemptions"]:
        parts.append(f"{phrases.count(sums['preemptions'])} preempted")
    return [f"{', '.join(parts)}."]


def _charts(profile: Profile, seconds: float) -> str:
    drawn = ""
    if gpu := profile.get("gpu"):
        bin_s = gpu["timeline"]["bin_s"]
        pairs = zip(gpu["cards"], gpu["timeline"]["load"], strict=False)
        lines = [Line(f"{card['index']}: {card['name']}", bin_s, load) for card, load in pairs]
        names = ", ".join(sorted({card["name"] for card in gpu["cards"]}))
        drawn += chart("GPU load", names, lines, seconds, share=True)
    if servers := profile.get("servers"):
        line = servers["timeline"]
        queues = [Line(n, line["bin_s"], line[n], kind) for kind, n in enumerate(("running", "waiting"))]
        drawn += chart("Requests", "running, and waiting in red", queues, seconds)
        uses = zip(servers["each"], line["kv"], strict=False)
        kv = [Line(server["url"], line["bin_s"], use) for server, use in uses]
        drawn += chart("KV cache", "share in use", kv, seconds, share=True)
    return drawn


def _mean_load(gpu: Profile) -> float | None:
    loads = [card["load"]["mean"] for card in gpu.get("cards", ()) if card["load"]]
    return sum(loads) / len(loads) if loads else None


def _sum(servers: Sequence[Profile], name: str, kind: str) -> str:
    return phrases.count(round(sum(server[name][kind] for server in servers)))


def _energy(watt_hours: float) -> str:
    return f"{watt_hours / 1000:.2f} kWh" if watt_hours >= 1000 else f"{watt_hours:.1f} Wh"
