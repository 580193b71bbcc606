"""What travels through the chat client: a job, its answer, and the counts of what happened.

Data that client.py and dispatcher.py share, without behaviour.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from penstock.engines.chat.sureness import Sureness, sureness_of
from penstock.engines.chat.wire import Reply
from penstock.errors import EngineError


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model said about one picture. `attempts` is 0 if the answer to an identical one was used."""

    text: str
    finish_reason: str
    prompt_tokens: int = 0
    completion_tokens: int = 0
    attempts: int = 1
    seconds: float = 0.0
    notes: tuple[str, ...] = ()
    model: str = ""  # as its server calls it
    sureness: Sureness | None = None  # where logprobs were asked for and told


Outcome = Answer | EngineError


@dataclass(slots=True)
class Job:
    """One picture on its way to an answer, however many attempts that takes."""

    image: bytes = field(repr=False)
    prompt: str
    max_tokens: int
    cost: float
    done: Callable[[Outcome], None]
    attempts: int = 0
    failures: int = 0
    waits: int = 0
    shrinks: int = 0
    again: bool = False
    began: float | None = None
    cut: Reply | None = None  # the first answer, up to where it looped
    notes: list[str] = field(default_factory=list)


def answer_of(job: Job, reply: Reply, seconds: float) -> Answer:
    """Returns the answer that ends a job."""
    return Answer(
        reply.text, reply.finish_reason, reply.prompt_tokens, reply.completion_tokens, job.attempts, seconds,
        tuple(job.notes), reply.model, sureness_of(reply.tokens),
    )  # fmt: skip


@dataclass(slots=True)
class Counts:
    """What happened since the client was opened."""

    answered: int = 0
    failed: int = 0
    attempts: int = 0
    retries: int = 0
    busy: int = 0  # 429 and 503
    lost: int = 0  # connections that broke, and timeouts
    loops_cut: int = 0
    too_short: int = 0  # asked again with more tokens
    shrunk: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How long and how often the client tries. Seconds are those of the event loop's own clock."""

    limit: int = 256
    timeout_s: float = 300.0
    retries: int = 4
    down_s: float = 300.0  # how long all servers may be away: a restart of vLLM takes 1 to 3 minutes
    api_key: str | None = field(default=None, repr=False)
    dynamic: bool = True
    logprobs: bool = False  # ask how sure the model is of each token
    page_s: float | None = None  # the limit that a user gave a page, for all attempts together

    @property
    def deadline_s(self) -> float:
        """Counted from a job's first attempt; a busy server may make it wait that long."""
        return self.page_s or self.timeout_s * (self.retries + 1)
