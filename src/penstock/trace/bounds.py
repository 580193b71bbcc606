"""Finds what limits the requests that a run's servers work on at once, from the run's own numbers.

There are four limits: "in_flight", the requests the client allows; "sequences", what the server
schedules; "kv", the KV cache's tokens over a sequence's length; "step", one step's tokens over a prompt's.
The smallest decides. "step" differs from the others: a step takes milliseconds and the next prompts start
in the next one, so it limits how many start together, not how many run. An unknown limit is left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from urllib.parse import urlsplit

from penstock.trace import phrases
from penstock.trace.profile import GpuProfile, ServerBounds, ServerProfile

FED = 0.7  # of what could run; with less and nothing waiting, the servers get too few requests
QUEUED = 0.05  # waiting / running: a smaller queue is chance
FULL_CARD = 0.95  # of the time a kernel ran
FULL_KV = 0.9
OVERFLOW = 0.01  # of the requests: fewer restarts cost almost nothing
HERE = ("localhost", "127.0.0.1", "::1")
PHRASES = {
    "in_flight": "{} allowed in flight",
    "sequences": "{} sequences",
    "kv": "{} by KV cache",
    "step": "{} prompts a step",
}


@dataclass(frozen=True, slots=True)
class Limits:
    """The options a server was started with, as far as we know: /metrics does not tell them."""

    max_num_seqs: int | None = None
    max_num_batched_tokens: int | None = None

    @classmethod
    def of_command(cls, command: Sequence[str]) -> Limits:
        """Reads the flags of `vllm serve`, given as `--flag N` or `--flag=N`; the last one counts."""
        found: dict[str, int] = {}
        flat = [part for argument in command for part in argument.split("=", 1)]
        for flag, value in pairwise(flat):
            name = flag.removeprefix("--").replace("-", "_")
            if name in cls.__slots__ and value.isdigit():
                found[name] = int(value)
        return cls(**found)


def bounds(
    servers: Sequence[ServerProfile],
    limits: Sequence[Limits],
    in_flight: int = 0,
    gpu: GpuProfile | None = None,
) -> ServerBounds | None:
    """The known limits, the smallest, and a sentence on what to change. None if no request ran.

    `limits` are in the order of `servers`; `in_flight` is what the client allows.
    """
    working = [(server, limit) for server, limit in zip(servers, limits, strict=True) if server.running]
    if not working:
        return None
    seen = [server for server, _ in working]
    sequence, prefill = _mean_tokens(seen)
    known = {
        "in_flight": in_flight or None,
        "sequences": _total([limit.max_num_seqs for _, limit in working]),
        "kv": _over(_total([server.kv_tokens for server in seen]), sequence),
        "step": _over(_total([limit.max_num_batched_tokens for _, limit in working]), prefill),
    }
    each = {name: value for name, value in known.items() if value is not None}
    found = ServerBounds(
        each=each,
        smallest=min(each, key=lambda name: each[name]) if each else None,
        running=sum(server.running.mean for server in seen if server.running),
        waiting=sum(server.waiting.mean for server in seen if server.waiting),
        mean_sequence_tokens=sequence,
        mean_prefill_tokens=prefill,
    )
    return replace(found, sentence=_sentence(found, seen, _card_load(seen, gpu)))


def sentence(found: ServerBounds) -> str:
    """ "1,024 allowed in flight, 776 by KV cache": the known limits, the smallest first."""
    each = sorted(found.each.items(), key=lambda bound: bound[1])
    return ", ".join(PHRASES[name].format(phrases.count(value)) for name, value in each)


def _mean_tokens(servers: Sequence[ServerProfile]) -> tuple[float | None, float | None]:
    """Tokens of a whole sequence, and of the part of a prompt that had to be computed."""
    requests = sum(server.requests for server in servers)
    prompt = sum(server.prompt_tokens for server in servers)
    if not requests or not prompt:
        return None, None
    cached = sum(server.cached_tokens for server in servers)
    generated = sum(server.generation_tokens for server in servers)
    return (prompt + generated) / requests, max(1.0, (prompt - cached) / requests)


def _total(numbers: Sequence[int | None]) -> int | None:
    """Their sum, if all are known."""
    present = [number for number in numbers if number is not None]
    return sum(present) if len(present) == len(numbers) else None


def _over(tokens: int | None, length: float | None) -> int | None:
    return max(1, int(tokens / length)) if tokens is not None and length else None


def _card_load(servers: Sequence[ServerProfile], gpu: GpuProfile | None) -> float | None:
    """How busy the busiest card was, if the servers run on this machine."""
    if gpu is None or any(urlsplit(server.url).hostname not in HERE for server in servers):
        return None
    return max(gpu.mean_loads, default=None)


def _sentence(found: ServerBounds, servers: Sequence[ServerProfile], load: float | None) -> str:
    preempted = sum(server.preemptions for server in servers)
    if preempted > OVERFLOW * sum(server.requests for server in servers):
        return (
            f"The KV cache overflowed: {phrases.plural(preempted, 'request')} had to start over. "
            "Lower --max-num-seqs, or give the server more memory."
        )
    if load is not None and load >= FULL_CARD:
        return (
            f"The card is busy {phrases.percent(load)}: send fewer pixels (--text-height) or add a card; "
            "more in flight would only wait."
        )
    room = {name: value for name, value in found.each.items() if name != "step"}
    could = min(room.values(), default=None)
    queued = found.waiting > QUEUED * found.running
    if could is not None and not queued and found.running < FED * could:
        return (
            f"The servers ran {found.running:,.0f} of {could:,} and none waited: regions come too "
            "slowly, or the front end holds them (--api-server-count)."
        )
    return _when_full(found, servers, room, queued)


def _when_full(
    found: ServerBounds, servers: Sequence[ServerProfile], room: Mapping[str, int], queued: bool
) -> str:
    """The servers had all they could take; the advice depends on which limit set that."""
    kv_peak = max((server.kv.peak for server in servers if server.kv), default=0.0)
    if queued and kv_peak >= FULL_KV:
        return (
            f"Requests wait for KV cache, {phrases.percent(kv_peak)} full: raise --gpu-memory-utilization or "
            "send fewer pixels."
        )
    short = found.running < FED * min(room.values(), default=0)
    if queued and short and found.smallest == "step":
        return (
            f"A step starts {phrases.count(found.each['step'])} prompts and others wait: try a larger "
            "--max-num-batched-tokens, and measure; it takes memory from the KV cache."
        )
    if queued and "sequences" not in room:
        peak = sum(server.running.peak for server in servers if server.running)
        return f"The servers never ran more than {peak:,.0f} while others waited: raise --max-num-seqs."
    if not room:
        return "What the servers could run at once is not known: start them with `penstock engine start`."
    return _raise_the_smallest(room)


def _raise_the_smallest(room: Mapping[str, int]) -> str:
    first, *others = sorted(room, key=lambda name: room[name])
    target = f" to {room[others[0]]:,}" if others and room[others[0]] > room[first] else ""
    if first == "in_flight":
        return (
            f"The client's limit of {room[first]:,} decides: raise --in-flight{target or ', step by step'}."
        )
    if first == "sequences":
        return f"The server's {room[first]:,} sequences decide: raise --max-num-seqs{target}."
    return (
        f"The KV cache holds {phrases.plural(room[first], 'sequence')}: raise --gpu-memory-utilization, or "
        "send fewer pixels."
    )
