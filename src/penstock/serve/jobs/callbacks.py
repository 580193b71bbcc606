"""Sends a POST to a client's address when its job is over: signed, and again with growing waits.

Signed as Standard Webhooks are (`webhook-id`, `webhook-timestamp`, `webhook-signature`), so that a receiver
finds a library that checks it. What is owed is on disk with the job: a restart goes on with it. An address
may get it twice, never not at all while tries are left; `webhook-id` is the job's, so it is known again.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import hashlib
import hmac
import json
import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp

from penstock import __version__
from penstock.errors import UsageError, first_line
from penstock.serve.errors import HttpRefusal
from penstock.serve.guard.callback_targets import targets_of
from penstock.serve.guard.outgoing import AllowedHosts
from penstock.serve.jobs.jobs import Jobs, JobState
from penstock.serve.jobs.record import CallbackState

log = logging.getLogger(__name__)
WAITS_S = (
    10,
    30,
    120,
    600,
    1800,
    3600,
    7200,
    14400,
    28800,
)  # after each try that failed; then it is given up
LOOK_S = 1.0  # between two looks for jobs that are over
TRY_S = 15.0
AT_ONCE = 8
MAX_A_ROUND = 64  # one host that does not answer holds the others back two minutes at most
MIN_SECRET_BYTES = 16
GONE = 410  # the receiver wants no more
PREFIX = "whsec_"  # begins a secret that is base64
END_S = TRY_S + 5.0
ADVICE = "Make one: openssl rand -base64 32 > callback.secret."


@dataclass(frozen=True, slots=True)
class CallbackSettings:
    """Where callbacks may go, and the secret that signs them."""

    hosts: AllowedHosts = field(default_factory=AllowedHosts)
    secret: bytes = field(default=b"", repr=False)

    @classmethod
    def of(cls, targets: Sequence[str], secret: bytes) -> CallbackSettings:
        """Returns the settings for targets as an operator writes them. Raises UsageError."""
        names, networks = targets_of(targets)
        return cls(AllowedHosts(names, networks=networks), secret)

    def check(self, address: str) -> None:
        """Raises HttpRefusal for an address that callbacks may not go to."""
        advice = "Ask for the job's state, or start the service with --allow-callback."
        self.hosts.checked(address, "This service sends no callbacks to {host}.", advice)


def read_secret(path: Path) -> bytes:
    """Reads the operator's secret. Raises UsageError for a file that holds none."""
    try:
        text = path.read_text("utf-8").strip()
        secret = (
            base64.b64decode(text[len(PREFIX) :], validate=True) if text.startswith(PREFIX) else text.encode()
        )
    except (OSError, UnicodeDecodeError, binascii.Error) as exc:
        raise UsageError(f"{path} holds no secret: {first_line(exc)}.", ADVICE) from exc
    if len(secret) < MIN_SECRET_BYTES:
        raise UsageError(f"The secret in {path} is shorter than {MIN_SECRET_BYTES} bytes.", ADVICE)
    return secret


def signature(secret: bytes, id: str, timestamp: int, body: bytes) -> str:
    """Returns what `webhook-signature` holds."""
    made = hmac.new(secret, f"{id}.{timestamp}.".encode() + body, hashlib.sha256).digest()
    return f"v1,{base64.b64encode(made).decode()}"


class Callbacks:
    """Delivers callbacks on a thread of its own. `row` is a job as the API shows it."""

    def __init__(
        self,
        jobs: Jobs,
        settings: CallbackSettings,
        row: Callable[[JobState], dict[str, Any]],
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._jobs = jobs
        self._settings = settings
        self._row = row
        self._clock = clock
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._deliver_until_the_end, name="callbacks", daemon=True)

    def __enter__(self) -> Callbacks:
        if self._settings.hosts:
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ending.set()
        if self._thread.is_alive():
            self._thread.join(END_S)

    def deliver_due(self) -> int:
        """Sends the callbacks that are due, each once. Returns how many were accepted."""
        due = self._jobs.owed(self._clock(), WAITS_S[-1])[:MAX_A_ROUND]
        return asyncio.run(self._delivered(due)) if due else 0

    def _deliver_until_the_end(self) -> None:
        while not self._ending.wait(LOOK_S):
            try:
                self.deliver_due()
            except Exception:  # a full disk: the next look may go well
                log.exception("callbacks were not sent")

    async def _delivered(self, due: list[JobState]) -> int:
        turns = asyncio.Semaphore(AT_ONCE)
        timeout = aiohttp.ClientTimeout(total=TRY_S)
        headers = {"User-Agent": f"penstock/{__version__}", "Content-Type": "application/json"}
        connector = self._settings.hosts.connector()
        async with aiohttp.ClientSession(connector=connector, timeout=timeout, headers=headers) as session:

            async def one(state: JobState) -> bool:
                async with turns:
                    return not self._ending.is_set() and await self._try(session, state)

            return sum(await asyncio.gather(*map(one, due)))

    async def _try(self, session: aiohttp.ClientSession, state: JobState) -> bool:
        record = state.record
        status, why = await self._posted(session, state)
        if 200 <= status < 300:
            self._jobs.note_callback(record.id, "delivered", record.callback_tries + 1)
            return True
        tries = record.callback_tries + 1
        given_up = status == GONE or tries > len(WAITS_S)
        outcome: CallbackState = "failed" if given_up else "waiting"
        due = self._clock() + WAITS_S[min(tries, len(WAITS_S)) - 1]
        self._jobs.note_callback(record.id, outcome, tries, due)
        log.warning("the callback of job %s failed (try %d): %s", record.id, tries, why)
        return False

    async def _posted(self, session: aiohttp.ClientSession, state: JobState) -> tuple[int, str]:
        """Returns the status of the answer, 0 for none, and why it failed."""
        body = json.dumps({"type": "job.ended", "data": self._row(state)}, ensure_ascii=False).encode(
            "utf-8", "replace"
        )
        now = int(self._clock())
        headers = {
            "webhook-id": state.record.id,
            "webhook-timestamp": str(now),
            "webhook-signature": signature(self._settings.secret, state.record.id, now, body),
        }
        address = state.record.callback
        try:
            self._settings.check(address)  # the operator may allow less than when the job was taken
            async with session.post(address, data=body, headers=headers, allow_redirects=False) as answer:
                return answer.status, f"it answered {answer.status}"
        except TimeoutError:
            return 0, "it did not answer in time"
        except (aiohttp.ClientError, OSError, HttpRefusal) as exc:
            return 0, first_line(exc)
