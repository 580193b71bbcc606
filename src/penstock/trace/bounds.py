"""What bounds the requests a run's servers work on at once, from the run's own numbers.

Four things can: the requests the client allows in flight, the sequences the server schedules, the KV
cache's tokens over a sequence's length, and the tokens of one step over a prompt's. The smallest rules.
The last is of another kind: a step takes milliseconds and the next prompts start in the next one, so it
bounds how many start together, not how many run. What is not known is left out, never guessed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any
from urllib.parse import urlsplit

from penstock.trace import phrases

FED = 0.7  # of what could run; below, with nothing waiting, the servers are not fed
QUEUED = 0.05  # waiting / running: less is a moment's chance
FULL_CARD = 0.95  # of the time a kernel ran
FULL_KV = 0.9
OVERFLOW = 0.01  # of the requests: fewer that start over cost nothing to speak of
HERE = ("localhost", "127.0.0.1", "::1")
SAID = {
    "in_flight": "{} allowed in flight",
    "sequences": "{} sequences",
    "kv": "{} by KV cache",
    "step": "{} prompts a step",
}


@dataclass(frozen=True, slots=True)
class Limits:
    """What a server was started with, where we know: vLLM does not tell it in /metrics."""

    max_num_seqs: int | None = None
    max_num_batched_tokens: int | None = None

    @classmethod
    def of_command(cls, command: Sequence[str]) -> Limits:
        """Out of `vllm serve`'s flags, given as `--flag N` or `--flag=N`; the last one counts."""
        found: dict[str, int] = {}
        flat = [part for argument in command for part in argument.split("=", 1)]
        for flag, value in pairwise(flat):
            name = flag.removeprefix("--").replace("-", "_")
            if name in cls.__slots__ and value.isdigit():
                found[name] = int(value)
        return cls(**found)


def bounds(
    servers: Sequence[Mapping[str, Any]],
    limits: Sequence[Limits],
    in_flight: int = 0,
    gpu: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The known bounds, the smallest, and a sentence on what to change. Empty if no request was seen.

    `servers` are their summaries, `limits` in the same order, `in_flight` what the client allows.
    """
    working = [(s, lim) for s, lim in zip(servers, limits, strict=True) if s["running"]]
    if not working:
        return {}
    seen = [server for server, _ in working]
    mean = _means(seen)
    known = {
        "in_flight": in_flight or None,
        "sequences": _total([limit.max_num_seqs for _, limit in working]),
        "kv": _over(_total([server["kv_tokens"] for server in seen]), mean["sequence"]),
        "step": _over(_total([limit.max_num_batched_tokens for _, limit in working]), mean["prefill"]),
    }
    each = {name: value for name, value in known.items() if value is not None}
    facts = {
        "each": each,
        "smallest": min(each, key=lambda name: each[name]) if each else None,
        "running": sum(server["running"]["mean"] for server in seen),
        "waiting": sum(server["waiting"]["mean"] for server in seen),
        "mean_sequence_tokens": mean["sequence"],
        "mean_prefill_tokens": mean["prefill"],
    }
    return {**facts, "sentence": _sentence(facts, seen, _card_load(seen, gpu or {}))}


def told(found: Mapping[str, Any]) -> str:
    """ "1,024 allowed in flight, 776 by KV cache": the known bounds, the smallest first."""
    each = sorted(found["each"].items(), key=lambda bound: bound[1])
    return ", ".join(SAID[name].format(phrases.count(value)) for name, value in each)


def _means(servers: Sequence[Mapping[str, Any]]) -> dict[str, float | None]:
    """Tokens of a whole sequence, and of the part of a prompt that had to be computed."""
    sums = {
        name: sum(server.get(name, 0) for server in servers)
        for name in ("requests", "prompt_tokens", "cached_tokens", "generation_tokens")
    }
    if not sums["requests"] or not sums["prompt_tokens"]:
        return {"sequence": None, "prefill": None}
    return {
        "sequence": (sums["prompt_tokens"] + sums["generation_tokens"]) / sums["requests"],
        "prefill": max(1.0, (sums["prompt_tokens"] - sums["cached_tokens"]) / sums["requests"]),
    }


def _total(numbers: Sequence[int | None]) -> int | None:
    """Their sum, if all are known."""
    present = [number for number in numbers if number is not None]
    return sum(present) if len(present) == len(numbers) else None


def _over(tokens: int | None, length: float | None) -> int | None:
    return max(1, int(tokens / length)) if tokens is not None and length else None


def _card_load(servers: Sequence[Mapping[str, Any]], gpu: Mapping[str, Any]) -> float | None:
    """How busy the busiest card was, if the servers run on this machine."""
    if any(urlsplit(server["url"]).hostname not in HERE for server in servers):
        return None
    loads = [card["load"]["mean"] for card in gpu.get("cards", ()) if card["load"]]
    return max(loads, default=None)


def _sentence(facts: Mapping[str, Any], servers: Sequence[Mapping[str, Any]], load: float | None) -> str:
    preempted, asked = (
        sum(server.get(name, 0) for server in servers) for name in ("preemptions", "requests")
    )
    if preempted > OVERFLOW * asked:
        return (
            f"The KV cache overflowed: {phrases.plural(preempted, 'request')} had to start over. "
            "Lower --max-num-seqs, or give the server more memory."
        )
    if load is not None and load >= FULL_CARD:
        return (
            f"The card is busy {phrases.percent(load)}: send fewer pixels (--text-height) or add a card; "
            "more in flight would only wait."
        )
    room = {name: value for name, value in facts["each"].items() if name != "step"}
    could = min(room.values(), default=None)
    queued = facts["waiting"] > QUEUED * facts["running"]
    if could is not None and not queued and facts["running"] < FED * could:
        return (
            f"The servers ran {facts['running']:,.0f} of {could:,} and none waited: regions come too "
            "slowly, or the front end holds them (--api-server-count)."
        )
    return _when_full(facts, servers, room, queued)


def _when_full(
    facts: Mapping[str, Any], servers: Sequence[Mapping[str, Any]], room: Mapping[str, int], queued: bool
) -> str:
    """The servers had all they could take; what to raise depends on who set that."""
    kv_peak = max((server["kv"]["peak"] for server in servers if server["kv"]), default=0.0)
    if queued and kv_peak >= FULL_KV:
        return (
            f"Requests wait for KV cache, {phrases.percent(kv_peak)} full: raise --gpu-memory-utilization or "
            "send fewer pixels."
        )
    short = facts["running"] < FED * min(room.values(), default=0)
    if queued and short and facts["smallest"] == "step":
        prompts = phrases.count(facts["each"]["step"])
        return (
            f"A step starts {prompts} prompts and others wait: try a larger --max-num-batched-tokens, and "
            "measure; it takes memory from the KV cache."
        )
    if queued and "sequences" not in room:
        peak = sum(server["running"]["peak"] for server in servers)
        return f"The servers never ran more than {peak:,.0f} while others waited: raise --max-num-seqs."
    if not room:
        return "What the servers could run at once is not known: start them with `penstock engine start`."
    return _raise_the_smallest(room)


def _raise_the_smallest(room: Mapping[str, int]) -> str:
    first, *others = sorted(room, key=lambda name: room[name])
    target = f" to {room[others[0]]:,}" if others and room[others[0]] > room[first] else ""
    if first == "in_flight":
        return f"The client's limit of {room[first]:,} rules: raise --in-flight{target or ', step by step'}."
    if first == "sequences":
        return f"The server's {room[first]:,} sequences rule: raise --max-num-seqs{target}."
    return (
        f"The KV cache holds {phrases.plural(room[first], 'sequence')}: raise --gpu-memory-utilization, or "
        "send fewer pixels."
    )
