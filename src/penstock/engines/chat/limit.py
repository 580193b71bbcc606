"""How many requests may be in flight: rises slowly and falls quickly, as in TCP.

Starts at the maximum, because vLLM queues what it cannot run and a slow start would leave a card idle for
its first hundred pages. Falls when the server says it is full (429, 503), when answers take nearly as long as
their timeout, or when the server's own queue, read from /metrics, is as long as what it runs: waiting there
only delays every answer. Rises by a twentieth for each round of answers during which it was full.

Clocks are arguments. Not thread-safe: one event loop owns it.
"""

from __future__ import annotations

import math

DECREASE = 0.7  # TCP halves; a queue of a server forgives more than a full router
GROWTH = 0.05  # for each answer: a twentieth more after a full round; one more a round would take an hour
REST_S = 1.0  # between two cuts, or one round: all that was in flight is refused at the same moment
LATE = 0.5  # of the timeout
LONG_QUEUE = 1.0  # waiting / running: one more round is queued, so no slot of the server can starve
PATIENT_LOOKS = 3  # a burst of large pictures also makes a queue, for a moment


class Limit:
    """The number of requests allowed in flight now, between `minimum` and `maximum`."""

    def __init__(self, maximum: int, *, dynamic: bool = True, timeout_s: float = 300.0) -> None:
        self.maximum = max(1, maximum)
        self.minimum = min(self.maximum, 4)  # with fewer, we would not notice that a server has recovered
        self.cuts = 0
        self._value = float(self.maximum)
        self._dynamic = dynamic
        self._late_s = LATE * timeout_s
        self._rested = -math.inf
        self._long_looks = 0
        self._latency = 0.0

    @property
    def now(self) -> int:
        return int(self._value)

    def answered(self, seconds: float, was_full: bool, now: float) -> None:
        """Notes one answer. Raises the limit only if the limit was what held requests back."""
        self._latency += 0.1 * (seconds - self._latency)
        if self._latency > self._late_s and self._value > self.minimum:
            self._cut(self._value * DECREASE, now)
            self._latency *= DECREASE  # fewer in flight are answered sooner; do not cut twice for it
        elif was_full:
            self._value = min(float(self.maximum), self._value + max(GROWTH, 1.0 / self._value))

    def refused(self, now: float) -> None:
        """Notes that the server said it is full."""
        self._cut(self._value * DECREASE, now)

    def looked(self, running: float, waiting: float, now: float) -> None:
        """Notes how many requests run and wait by /metrics; called every few seconds."""
        long = running > 0 and waiting > LONG_QUEUE * running
        self._long_looks = self._long_looks + 1 if long else 0
        if self._long_looks >= PATIENT_LOOKS:
            self._long_looks = 0
            # what lies in the server's front end is in neither figure: only the queue's surplus goes
            surplus = waiting - LONG_QUEUE * running
            self._cut(max(DECREASE * self._value, self._value - surplus), now)
        elif waiting == 0 and running >= 0.9 * self._value:
            self._value = min(float(self.maximum), self._value * 1.1 + 1.0)

    def _cut(self, to: float, now: float) -> None:
        rest = max(REST_S, self._latency)
        if not self._dynamic or now - self._rested < rest or to >= self._value:
            return
        self._rested = now
        self._value = max(float(self.minimum), to)
        self.cuts += 1


class Fill:
    """How full the limit was while there was enough to fill it, as a share of time."""

    def __init__(self) -> None:
        self._since: float | None = None
        self._share = 0.0
        self._ready_s = 0.0
        self._filled_s = 0.0

    def note(self, in_flight: int, waiting: int, limit: int, now: float) -> None:
        """Call it after every change of the three counts."""
        if self._since is not None:
            self._ready_s += now - self._since
            self._filled_s += self._share * (now - self._since)
        enough = limit > 0 and in_flight + waiting >= limit
        self._since = now if enough else None
        self._share = min(1.0, in_flight / limit) if enough else 0.0

    @property
    def ready_s(self) -> float:
        return self._ready_s

    @property
    def share(self) -> float:
        """The share of time; 1.0 if there were never enough requests to fill the limit."""
        return self._filled_s / self._ready_s if self._ready_s else 1.0
