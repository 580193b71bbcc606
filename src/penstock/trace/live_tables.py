"""Tables of the report's page on cards, phases, servers and requests: the numbers behind its charts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from penstock.sizes import MIB, memory_size
from penstock.trace import phrases
from penstock.trace.profile import (
    CardProfile,
    GpuProfile,
    MeanAndPeak,
    PhaseProfile,
    Profile,
    RequestsProfile,
    ServerProfile,
)

DASH = "–"
CARD_HEADS = ("load", "median", "peak", "memory bus", "peak", "memory", "peak", "of")
PHASE_HEADS = ("seconds seen", "load", "peak", "memory bus", "peak", "memory", "peak")
REQUEST_HEADS = (
    "answered", "failed", "retries", "mean", "median", "95 %", "99 %", "slowest", "tokens/s in", "out",
)  # fmt: skip
SERVER_HEADS = (
    "running", "peak", "KV cache", "peak", "tokens/s in", "out", "prefix hits", "picture hits", "preempted",
)  # fmt: skip
NO_STAGE = "no stage at work"


def tables(profile: Profile) -> str:
    """The tables of what was watched; empty where nothing was."""
    made = _gpu_tables(profile.gpu) if profile.gpu else []
    if profile.servers:
        rows = [(server.url, _server_cells(server)) for server in profile.servers.each]
        made.append(_table("server", SERVER_HEADS, rows))
    if asked := profile.requests:
        made.append(_table("requests", REQUEST_HEADS, [("as our client saw them", _request_cells(asked))]))
    return "".join(made)


def _gpu_tables(gpu: GpuProfile) -> list[str]:
    cards = [(f"{card.index}: {card.name}", _card_cells(card)) for card in gpu.cards]
    made = [_table("card", CARD_HEADS, cards)]
    if gpu.phases:
        rows = [(phase.name or NO_STAGE, _phase_cells(phase)) for phase in gpu.phases]
        made.append(_table("while this stage worked", PHASE_HEADS, rows))
    return made


def _card_cells(card: CardProfile) -> list[str]:
    load, bandwidth = _shares(card.load), _shares(card.bandwidth)
    median = _share(card.load_p50)
    memory = [_memory(mb) for mb in (card.memory_mean_mb, card.memory_peak_mb, card.memory_total_mb)]
    return [load[0], median, load[1], *bandwidth, *memory]


def _phase_cells(phase: PhaseProfile) -> list[str]:
    memory = phase.memory_mb
    used = [_memory(memory.mean), _memory(memory.peak)] if memory else [DASH, DASH]
    return [phrases.count(phase.samples), *_shares(phase.load), *_shares(phase.bandwidth), *used]


def _request_cells(asked: RequestsProfile) -> list[str]:
    counts = [phrases.count(number) for number in (asked.answered, asked.failed, asked.retries)]
    times = (asked.mean_s, asked.p50_s, asked.p95_s, asked.p99_s, asked.slowest_s)
    rates = (asked.prompt_tokens_per_s, asked.completion_tokens_per_s)
    return [*counts, *map(latency, times), *(phrases.rate(rate) if rate else DASH for rate in rates)]


def _server_cells(server: ServerProfile) -> list[str]:
    running = server.running
    levels = [phrases.rate(running.mean), phrases.rate(running.peak)] if running else [DASH, DASH]
    rates = (server.prompt_tokens_per_s, server.generation_tokens_per_s)
    speeds = [phrases.rate(rate) if rate else DASH for rate in rates]
    hits = [_share(server.prefix_hit_share), _share(server.mm_hit_share)]
    return [*levels, *_shares(server.kv), *speeds, *hits, phrases.count(server.preemptions)]


def latency(seconds: float) -> str:
    """ "84 ms", "4.2 s", "1 min 12 s"."""
    return f"{seconds * 1000:.0f} ms" if seconds < 0.9995 else phrases.duration(seconds)


def _shares(level: MeanAndPeak | None) -> list[str]:
    return [_share(level.mean), _share(level.peak)] if level else [DASH, DASH]


def _share(share: float | None) -> str:
    return DASH if share is None else phrases.percent(share)


def _memory(megabytes: float | None) -> str:
    return DASH if megabytes is None else memory_size(megabytes * MIB)


def _table(first: str, heads: Sequence[str], rows: Iterable[tuple[str, list[str]]]) -> str:
    top = "".join(f'<th scope="col">{escape(head)}</th>' for head in (first, *heads))
    body = "".join(_row(name, cells) for name, cells in rows)
    return f'<div class="scroll"><table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>\n'


def _row(name: str, cells: Iterable[str]) -> str:
    values = "".join(f"<td>{escape(cell)}</td>" for cell in cells)
    return f'<tr><th scope="row">{escape(name)}</th>{values}</tr>'
