"""The event loop's half of the chat client: a queue of jobs, a limit, and what follows each answer.

Long jobs go first, so that the last ones to run are short and all end together. Each attempt takes one place
of the limit; a job that waits for a retry takes none. As soon as a place is free and a job is ready, the
job is sent: nothing polls.

Everything here runs on one thread. Other threads call client.py.
"""

from __future__ import annotations

import asyncio
import heapq
import io
import itertools
import logging
import random
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import aiohttp

from penstock import repetition
from penstock.engines.chat.errors import Refusal, RequestRefused
from penstock.engines.chat.job import Counts, Job, Settings, answer_of
from penstock.engines.chat.limit import Fill, Limit
from penstock.engines.chat.recognisers import Recogniser
from penstock.engines.chat.server import Server, check_length, describe, whole
from penstock.engines.chat.wire import Reply, StreamReader, read_whole, request_body
from penstock.errors import EngineError
from penstock.trace.request_times import CLIENTS, RequestTimes

log = logging.getLogger(__name__)

LARGE_BODY = 512 * 1024  # bytes of picture; its base64 takes 2 ms, which others on the loop would wait
CONNECT_S = 10.0
LOGPROBS = {"logprobs": True, "top_logprobs": 1}  # llama.cpp sends 20 others with each token if not told
PLAIN = {"Accept-Encoding": "identity"}
KEEP_ALIVE_S = 4.0  # vLLM's front end drops idle connections after 5 s; we let go before it does
FIRST_BACKOFF_S, MAX_BACKOFF_S = 0.5, 8.0
MIN_RETRY_S = 0.1  # also when a full server allows a retry sooner
MAX_SHRINKS = 3
FIRST_CONTACT_S = 30.0  # a server never seen: a wrong address should not cost minutes
AWAY_LOOK_S = 0.5
TELL_S = 5.0  # by then people wonder why nothing moves
SPARE_FILES = 512  # for everything else a run has open
SMALLER = Callable[[bytes, float], bytes]


class Dispatcher:
    """Owns the session, the servers and the queue. Made and used on the event loop."""

    def __init__(
        self,
        addresses: Sequence[str],
        recogniser: Recogniser,
        model: str | None,
        settings: Settings,
        smaller: SMALLER,
    ) -> None:
        self.counts = Counts()
        self.fill = Fill()
        self.times = RequestTimes()
        CLIENTS.tell(self.times)
        self.limit = Limit(settings.limit, dynamic=settings.dynamic, timeout_s=settings.timeout_s)
        self.servers = [Server(address, model, self.pump) for address in addresses]
        self.in_flight = 0
        self._recogniser = recogniser
        self._settings = settings
        self._smaller = smaller
        self._ready: list[tuple[float, int, Job]] = []
        self._delayed: dict[int, Job] = {}  # to be asked again after a pause, or being made smaller
        self._closing = False
        allow_connections(settings.limit + SPARE_FILES)
        self._numbers = itertools.count()
        self._loop = asyncio.get_running_loop()
        self._background: set[asyncio.Task[Any]] = set()
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=KEEP_ALIVE_S),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers=PLAIN | ({"Authorization": f"Bearer {settings.api_key}"} if settings.api_key else {}),
            auto_decompress=False,  # 16 kB may unfold to more than there is memory
            timeout=aiohttp.ClientTimeout(total=settings.timeout_s, sock_connect=CONNECT_S),
        )
        for server in self.servers:
            self._run(server.keep(self._session, self._looked))
        self._run(self._give_up_when_all_are_away())

    @property
    def waiting(self) -> int:
        return len(self._ready) + len(self._delayed)

    @property
    def allowed(self) -> int:
        """The limit less the share of servers that are down: the others must not take over their load."""
        alive = sum(server.up for server in self.servers)
        return -(-self.limit.now * alive // len(self.servers))

    def submit(self, job: Job) -> None:
        heapq.heappush(self._ready, (-job.cost, next(self._numbers), job))

    def pump(self) -> None:
        """Sends ready jobs up to the limit. Call it after every change."""
        while self._ready and self.in_flight < self.allowed:
            server = min((s for s in self.servers if s.up), key=lambda s: len(s.tasks))
            job = heapq.heappop(self._ready)[2]
            self.in_flight += 1
            server.tasks.add(self._loop.create_task(self._attempt(job, server)))
        self.fill.note(self.in_flight, len(self._ready), self.allowed, self._loop.time())

    async def close(self) -> None:
        """Ends all tasks. Jobs without an answer fail with a reason."""
        self._closing = True
        for server in self.servers:
            server.up = False  # an end, and no trouble for the log
            server.set_aside("the client was closed")
        tasks = [*self._background, *(task for server in self.servers for task in server.tasks)]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._fail_all(EngineError("The client was closed before the picture was answered."))
        await self._session.close()
        await asyncio.sleep(0)  # connections that were cut are closed in the loop's next turn

    # one attempt

    async def _attempt(self, job: Job, server: Server) -> None:
        began = self._loop.time()
        job.began = began if job.began is None else job.began
        job.attempts += 1
        self.counts.attempts += 1
        follow: Callable[[], None]
        try:
            async with asyncio.timeout_at(job.began + self._settings.deadline_s):
                reply = await self._exchange(job, server)
            follow = partial(self._answered, job, reply, server)
            now = self._loop.time()
            self.limit.answered(now - began, self.in_flight >= self.allowed, now)
        except RequestRefused as exc:
            follow = partial(self._refused, job, exc.refusal)
        except asyncio.CancelledError:  # by the server's keeper, or by close()
            follow = partial(self._lost, job, server, server.reason)
        except (aiohttp.ClientError, TimeoutError, OSError) as exc:
            self._note_trouble(server, exc)
            follow = partial(self._lost, job, server, describe(exc))
        except Exception as exc:  # our own bug must not leave the caller waiting for ever
            follow = partial(self._fail, job, EngineError(f"{type(exc).__name__}: {exc}"))
        self.in_flight -= 1
        if (task := asyncio.current_task()) is not None:
            server.tasks.discard(task)
        try:
            follow()
        except Exception as exc:  # as above
            self._fail(job, EngineError(f"{type(exc).__name__}: {exc}"))
        self.pump()

    async def _exchange(self, job: Job, server: Server) -> Reply:
        stream = self._recogniser.watch_loops and job.max_tokens > self._recogniser.stream_above
        body = await self._body(job, server, stream)
        data = io.BytesIO(body) if len(body) > LARGE_BODY else body
        headers = {"Content-Type": "application/json", **server.headers}
        url = server.url + "/v1/chat/completions"
        async with self._session.post(url, data=data, headers=headers, allow_redirects=False) as response:
            if response.status != 200:
                after_s = response.headers.get("Retry-After")
                raise RequestRefused(server.refusal(response.status, await whole(response), after_s))
            if stream and response.content_type == "text/event-stream":
                return await self._read_stream(response)
            return read_whole(await whole(response))

    async def _body(self, job: Job, server: Server, stream: bool) -> bytes:
        who = self._recogniser
        # vLLM clamps a budget that does not fit beside the prompt, but refuses one longer than its context
        budget = min(job.max_tokens, server.context or job.max_tokens)
        settings = {**who.sampling, **(who.again if job.again else {}), "max_tokens": budget}
        settings |= LOGPROBS if self._settings.logprobs and server.tells_logprobs else {}
        build = partial(
            request_body,
            job.image,
            job.prompt,
            server.model,
            settings,
            image_first=who.image_first,
            stream=who.stream_options if stream else None,
        )
        if len(job.image) < LARGE_BODY:
            return build()
        return await self._loop.run_in_executor(None, build)

    async def _read_stream(self, response: aiohttp.ClientResponse) -> Reply:
        reader = StreamReader(repetition.LoopWatch())
        size = 0
        async for data in response.content.iter_any():
            check_length(size := size + len(data))
            if reader.feed(data):
                response.close()  # the server notices and stops generating
                return reader.finish()
        reply = reader.finish()
        if not reader.done and not reply.finish_reason:
            raise aiohttp.ClientPayloadError("the stream ended in the middle of the answer")
        return reply

    def _note_trouble(self, server: Server, exc: BaseException) -> None:
        """Lowers the limit after a timeout. Sets the server aside after a broken connection."""
        if isinstance(exc, TimeoutError) and not isinstance(exc, aiohttp.ClientError):
            self.limit.refused(self._loop.time())
        elif server.up:
            server.set_aside(describe(exc))

    # what follows

    def _answered(self, job: Job, reply: Reply, server: Server) -> None:
        reply.model = server.model
        self.counts.prompt_tokens += reply.prompt_tokens
        self.counts.completion_tokens += reply.completion_tokens
        if reply.finish_reason in ("abort", "error"):
            return self._lost(job, server, f"it ended the answer with {reply.finish_reason!r}")
        unended = reply.finish_reason in ("length", "repetition")
        if self._recogniser.watch_loops and unended and not reply.looped:
            reply.text, reply.looped = repetition.cut(reply.text)
        if reply.looped or reply.finish_reason == "repetition":
            return self._looped(job, reply)
        more = self._more_tokens(job, reply, server)
        if reply.finish_reason == "length" and more > job.max_tokens:
            self.counts.too_short += 1
            job.max_tokens = more
            return self._later(job, 0.0)
        if reply.finish_reason == "length":
            job.notes.append(f"The answer was cut off at {reply.completion_tokens} tokens.")
        return self._finish(job, reply)

    def _more_tokens(self, job: Job, reply: Reply, server: Server) -> int:
        room = server.context - reply.prompt_tokens if server.context else self._recogniser.max_tokens
        return min(job.max_tokens * self._recogniser.grow, self._recogniser.max_tokens, room)

    def _looped(self, job: Job, reply: Reply) -> None:
        self.counts.loops_cut += 1
        if job.cut is None and self._recogniser.again:
            job.cut, job.again = reply, True
            job.notes.append("The first answer repeated itself without end; it was asked again.")
            return self._later(job, 0.0)
        job.notes.append("The answer repeated itself without end and was cut where that began.")
        return self._finish(job, replace(job.cut or reply, finish_reason="repetition"))

    def _refused(self, job: Job, refusal: Refusal) -> None:
        if refusal.remedy == "wait":
            self.counts.busy += 1
            self.limit.refused(self._loop.time())
            job.waits += 1
            job.attempts -= 1  # the server did not look at it
            return self._retry(job, refusal.error(), job.waits, refusal.retry_after_s, logging.DEBUG)
        if refusal.remedy == "shrink" and job.shrinks < MAX_SHRINKS:
            job.shrinks += 1
            self.counts.shrunk += 1
            self._run(self._shrink(job, refusal))
            return None
        if refusal.remedy == "again" and job.failures < self._settings.retries:
            job.failures += 1
            return self._retry(job, refusal.error(), job.failures, refusal.retry_after_s)
        return self._fail(job, refusal.error())

    def _lost(self, job: Job, server: Server, words: str) -> None:
        self.counts.lost += 1
        error = EngineError(
            f"{server.url} did not answer after {job.attempts} attempts: {words}.",
            "The server's log may say why.",
        )
        if job.failures >= self._settings.retries or self._closing:
            return self._fail(job, error)
        job.failures += 1
        return self._retry(job, error, job.failures, None)

    def _retry(
        self, job: Job, error: EngineError, times: int, after_s: float | None, level: int = logging.INFO
    ) -> None:
        """Sends the job again after a pause. A full server says so many times: that is not worth a line."""
        pause = min(MAX_BACKOFF_S, FIRST_BACKOFF_S * 2 ** min(times - 1, 10))
        pause = pause * random.uniform(0.5, 1.5) if after_s is None else min(max(after_s, MIN_RETRY_S), 60.0)
        assert job.began is not None
        if self._loop.time() + pause > job.began + self._settings.deadline_s:
            return self._fail(job, error)
        self.counts.retries += 1
        self.times.retries += 1
        log.log(
            level, "retry: a request is sent again in %.1f s: %s", pause, error.message,
            extra={"pause_s": round(pause, 3), "attempts": job.attempts, "reason": error.message},
        )  # fmt: skip
        return self._later(job, pause)

    def _later(self, job: Job, pause: float) -> None:
        if pause <= 0:
            self.submit(job)
            return
        self._delayed[id(job)] = job
        self._loop.call_later(pause, self._resubmit, job)

    def _resubmit(self, job: Job) -> None:
        if self._delayed.pop(id(job), None) is not None:  # close() may have failed it
            self.submit(job)
            self.pump()

    async def _shrink(self, job: Job, refusal: Refusal) -> None:
        self._delayed[id(job)] = job
        try:
            job.image = await self._loop.run_in_executor(None, self._smaller, job.image, refusal.scale)
        except Exception as exc:  # whatever a decoder raises becomes the caller's answer
            self._delayed.pop(id(job), None)
            self._fail(
                job, exc if isinstance(exc, EngineError) else EngineError(f"{type(exc).__name__}: {exc}")
            )
            return
        job.notes.append(f"Scaled to {refusal.scale:.0%}: {refusal.reason}")
        self._resubmit(job)

    def _finish(self, job: Job, reply: Reply) -> None:
        self.counts.answered += 1
        ended = self._loop.time()
        began = ended if job.began is None else job.began
        self.times.add(began, ended, reply.prompt_tokens, reply.completion_tokens)
        job.done(answer_of(job, reply, ended - began))

    def _fail(self, job: Job, error: EngineError) -> None:
        self.counts.failed += 1
        self.times.failed += 1
        job.done(error)

    # background

    def _run(self, work: Any) -> None:
        task = self._loop.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    def _looked(self) -> None:
        loads = [server.load for server in self.servers if server.up and server.load is not None]
        running, waiting = sum(load.running for load in loads), sum(load.waiting for load in loads)
        self.limit.looked(running, waiting, self._loop.time())
        self.pump()

    async def _give_up_when_all_are_away(self) -> None:
        """Fails all jobs when no server was up for too long; until then logs that it waits."""
        away_since: float | None = None
        warned = False
        while True:
            await asyncio.sleep(AWAY_LOOK_S)
            if any(server.up for server in self.servers) or not self.waiting:
                if warned:
                    log.warning("a model server answers again")
                away_since, warned = None, False
                continue
            now = self._loop.time()
            away_since = now if away_since is None else away_since
            known = any(server.was_up for server in self.servers)
            patience = self._settings.down_s if known else min(FIRST_CONTACT_S, self._settings.down_s)
            reasons = "; ".join(f"{server.url}: {server.reason}" for server in self.servers)
            if known and not warned and now - away_since >= TELL_S:
                warned = True
                log.warning("no model server answers (%s); waiting up to %g s", reasons, patience)
            if now - away_since >= patience:
                self._fail_all(
                    EngineError(
                        f"No server answered for {patience:g} s ({reasons}).",
                        "Start one with `penstock engine start`, or check --server.",
                    )
                )

    def _fail_all(self, error: EngineError) -> None:
        jobs = [job for _, _, job in self._ready] + list(self._delayed.values())
        self._ready.clear()
        self._delayed.clear()
        for job in jobs:
            self._fail(job, error)


def allow_connections(wanted: int) -> None:
    """Raises this process's limit of open files: 1,024 is usual, and each request in flight takes one."""
    if sys.platform == "win32":
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        allowed = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
