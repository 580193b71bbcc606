"""Samples the model servers of a run, once a second, from their /metrics.

Counters are the growth from the first answer to the last: requests from before the run do not count, and
a restarted server goes on counting. Requests of other clients during the run count as well.
"""

from __future__ import annotations

import urllib.error
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from penstock.redaction import SafeRepr, bare_address
from penstock.trace import vllm_metrics
from penstock.trace.announcements import Announcements
from penstock.trace.bounds import Limits
from penstock.trace.profile import Curve, ServerProfile, ServersProfile, ServersTimeline
from penstock.trace.timeline import Gauge, Timeline, added
from penstock.trace.vllm_metrics import VllmMetrics

DEADLINE_S = 2.0  # for one look; an idle server takes some ms, a busy front end up to a second
TOTALS = ("requests", "prompt_tokens", "cached_tokens", "generation_tokens", "preemptions")


@dataclass(frozen=True, slots=True)
class ServerNews(SafeRepr):
    """A server of this run: where it is, what it was started with, what the client allows at once."""

    url: str
    limits: Limits
    in_flight: int


SERVERS: Announcements[ServerNews] = Announcements()


def announce(url: str, command: Sequence[str] = (), in_flight: int = 0) -> None:
    """Tells the watch of this process, if there is one, about a server that serves its run.

    `command` is the command that started it, `in_flight` what the client allows over all its servers.
    """
    SERVERS.tell(ServerNews(url, Limits.of_command(command), in_flight))


@dataclass
class _ServerSums:
    """What the looks add up to."""

    running: Gauge = field(default_factory=Gauge)
    waiting: Gauge = field(default_factory=Gauge)
    kv: Gauge = field(default_factory=Gauge)
    counted: dict[str, float] = field(default_factory=dict)
    last: dict[str, float] = field(default_factory=dict)
    kv_tokens: int | None = None
    samples: int = 0
    missed: int = 0
    busy_s: float = 0.0
    looked_at: float | None = None  # and had work then

    def weigh(self, seen: VllmMetrics, at: float) -> None:
        """The means are those of its work: that it idled before says nothing of it."""
        if self.looked_at is not None:
            self.busy_s += at - self.looked_at
        self.looked_at = at if seen.running or seen.waiting else None
        if self.looked_at is None:
            return
        self.running.add(seen.running)
        self.waiting.add(seen.waiting)
        if seen.kv_use is not None:
            self.kv.add(seen.kv_use)

    def count(self, now: Mapping[str, float]) -> None:
        for name, value in now.items():
            before = self.last.get(name)
            # below what it was: restarted, and counting from 0 again
            grown = 0.0 if before is None else value - before if value >= before else value
            self.counted[name] = self.counted.get(name, 0.0) + grown
        self.last.update(now)

    def ratio(self, part: str, whole: str) -> float | None:
        if part not in self.counted or not self.counted.get(whole):
            return None
        return self.counted[part] / self.counted[whole]

    def rate(self, name: str) -> float | None:
        """A second of its work; None where no look saw it work."""
        return self.counted[name] / self.busy_s if self.busy_s and name in self.counted else None


class ServerSampler:
    """Reads one server's metrics on each call. One thread uses it; call `summary` after that thread's end."""

    def __init__(
        self, url: str, number: int, timeline: Timeline, limits: Limits, deadline_s: float = DEADLINE_S
    ) -> None:
        self.url = url
        self.limits = limits
        self.alive = True  # until it turns out to have no metrics
        self._number = number
        self._timeline = timeline
        self._deadline_s = deadline_s
        self._sums = _ServerSums()

    def look(self, at: float) -> None:
        self._sums.samples += 1
        try:
            text = vllm_metrics.fetch(self.url, self._deadline_s)
        except urllib.error.HTTPError as exc:
            self.alive = exc.code >= 500  # starting, or behind a proxy that waits for it
            text = b""
        except OSError:  # not up, gone, slow, half an answer
            text = b""
        seen = vllm_metrics.read(text)
        if seen is None:
            self._sums.missed += 1
            return
        self._add(seen, at)
        self._sums.kv_tokens = self._sums.kv_tokens or vllm_metrics.kv_tokens(text)

    def close(self) -> None:
        """Holds no connection between two looks."""

    def summary(self) -> ServerProfile:
        sums = self._sums
        totals = {name: round(sums.counted.get(name, 0)) for name in TOTALS}
        return ServerProfile(
            url=bare_address(self.url),
            samples=sums.samples,
            missed=sums.missed,
            running=sums.running.summary(),
            waiting=sums.waiting.summary(),
            kv=sums.kv.summary(),
            kv_tokens=sums.kv_tokens,
            prefix_hit_share=sums.ratio("prefix_hits", "prefix_queries"),
            mm_hit_share=sums.ratio("mm_hits", "mm_queries"),
            mean_step_tokens=sums.ratio("step_tokens", "steps"),
            busy_s=sums.busy_s,
            prompt_tokens_per_s=sums.rate("prompt_tokens"),
            generation_tokens_per_s=sums.rate("generation_tokens"),
            **totals,
        )

    def _add(self, seen: VllmMetrics, at: float) -> None:
        numbers = {f"running/{self._number}": seen.running, f"waiting/{self._number}": seen.waiting}
        if seen.kv_use is not None:
            numbers[f"kv/{self._number}"] = seen.kv_use
        self._timeline.add(at, numbers)
        self._sums.weigh(seen, at)
        self._sums.count(seen.counters)


def summary(samplers: Sequence[ServerSampler], timeline: Timeline) -> ServersProfile | None:
    """All servers together, each alone and their sums over time. None if none has answered."""
    each = tuple(sampler.summary() for sampler in samplers)
    if all(server.missed == server.samples for server in each):
        return None

    def curves(name: str) -> tuple[Curve, ...]:
        return tuple(timeline.means(f"{name}/{number}") for number in range(len(samplers)))

    over_time = ServersTimeline(
        timeline.bin_s, added(curves("running")), added(curves("waiting")), curves("kv")
    )
    return ServersProfile(each, over_time)
