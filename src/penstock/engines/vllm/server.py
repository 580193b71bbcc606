"""Starts vLLM servers, watches them, restarts a dead or hung one, and ends them with us.

    with ManagedServer("zai-org/GLM-OCR", preset("auto"), gpu=0) as server:
        client = ChatClient([server.url], RECOGNISERS["glm-ocr"])

vLLM is never imported: it runs as a command in its own process group, under a guard (guard.py) that ends it
when we end, however that happens. A restart keeps the port, so a client that retries finds the new server at
the old address.
"""

from __future__ import annotations

import contextlib
import logging
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from penstock.engines.vllm import log as vllm_log
from penstock.engines.vllm import parent_watch
from penstock.engines.vllm.compiled import compiled_environment
from penstock.engines.vllm.memory_budget import measures_its_card
from penstock.engines.vllm.plugin import vision_environment
from penstock.engines.vllm.presets import Preset
from penstock.engines.vllm.probe import Pulse, Watch, ask_about_a_picture, healthy, tokens_and_running
from penstock.errors import MissingModel, OpenError, install_advice

START_DEADLINE_S = 900.0  # a first start downloads weights and compiles; 41 to 194 s were seen without
PROBE_DEADLINE_S = 120.0  # the first picture compiles kernels
DEFAULT_WATCH = Watch()
S = TypeVar("S")
log = logging.getLogger(__name__)


def find_vllm() -> list[str]:
    """The `vllm` command: $PENSTOCK_VLLM, the one next to our Python, or the first on the PATH."""
    if chosen := os.environ.get("PENSTOCK_VLLM"):
        return shlex.split(chosen)
    neighbour = Path(sys.executable).with_name("vllm")
    found = str(neighbour) if neighbour.exists() else shutil.which("vllm")
    if found is None:
        raise MissingModel(
            "vLLM is not installed.",
            f"{install_advice('vllm')}, or set PENSTOCK_VLLM to the `vllm` of an environment of its own, "
            "or name a running server with --server.",
        )
    return [found]


class ManagedServer:
    """One server. `start` returns when it has answered a request with a picture."""

    def __init__(
        self,
        model: str,
        preset: Preset,
        gpu: int | None = None,
        port: int = 0,
        extra_args: Sequence[str] = (),
        log_path: Path | None = None,
        *,
        served_name: str = "",
        prompt: str = "Text Recognition:",
        env: Mapping[str, str] | None = None,
        probe: bool = True,
        vision: str = "auto",
        niceness: int = 0,
        deadline_s: float = START_DEADLINE_S,
        watch: Watch = DEFAULT_WATCH,
    ) -> None:
        self.model = model
        self.preset = preset
        self.gpu = gpu
        self.port = port or free_port()
        self.log_path = (
            log_path or Path(tempfile.gettempdir()) / f"penstock-vllm-{os.getpid()}-{self.port}.log"
        )
        self.restarts = 0
        self.failure: OpenError | None = None  # set when we gave up restarting it
        self.pid: int | None = None  # of vLLM's first process, which leads its group
        self._extra = tuple(extra_args)
        self._served_name = served_name
        self._prompt = prompt
        self._env = dict(env or {})
        self._vision = vision
        self._probe = probe
        self._niceness = niceness
        self._deadline_s = deadline_s
        self._watch = watch
        self._guard: subprocess.Popen[bytes] | None = None
        self._lifeline: int | None = None
        self._log_start = 0
        self._stopping = threading.Event()
        self._lock = threading.RLock()
        self._watcher: threading.Thread | None = None

    def __enter__(self) -> ManagedServer:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def command(self, executable: Sequence[str] | None = None) -> list[str]:
        return self.preset.command(
            self.model,
            port=self.port,
            served_name=self._served_name,
            extra_args=self._extra,
            executable=find_vllm() if executable is None else executable,
        )

    def environment(self) -> dict[str, str]:
        """The variables that are added to our own environment."""
        own = {**self.preset.environment(self.gpu), **self._env}
        others = {**os.environ, **own}
        return {**own, **compiled_environment(others), **vision_environment(self._vision, others)}

    def start(self) -> None:
        """Starts, waits for health, sends a picture. Raises OpenError with the log's reason."""
        began = time.monotonic()
        log.info("server %s starts: %s", self.url, shlex.join(self.command()), extra=self._facts())
        self._bring_up()
        log.info("server %s answers after %.1f s", self.url, time.monotonic() - began, extra=self._facts())
        name = f"vllm-watch-{self.port}"
        self._watcher = threading.Thread(target=self._keep, name=name, daemon=True)
        self._watcher.start()

    def stop(self) -> None:
        """Ends the server and all its processes. The GPU is free when this returns."""
        self._stopping.set()
        running = self._guard is not None
        self._end()
        if running:
            log.info("server %s is stopped, %d restarts", self.url, self.restarts, extra=self._facts())
        if self._watcher is not None:
            self._watcher.join()
            self._watcher = None

    def kill(self) -> None:
        """Ends a start that is under way or yet to come, from any thread: `start` raises OpenError."""
        self._stopping.set()
        _kill_group(self.pid)

    # bringing up and down

    def _bring_up(self) -> None:
        with contextlib.ExitStack() as undo:  # Ctrl-C must leave no server on the GPU either
            undo.callback(self._end)
            self._launch()
            self._wait_for_health()
            if self._probe:
                self._ask_about_a_picture()
            undo.pop_all()

    def _launch(self) -> None:
        nice = ["nice", "-n", str(self._niceness)] if self._niceness else []
        command = [*nice, *self.command()]
        self.log_path.parent.mkdir(parents=True, exist_ok=True)
        life_read, life_write = os.pipe()
        report_read, report_write = os.pipe()
        guard = [sys.executable, "-I", parent_watch.__file__, str(life_read), str(report_write), *command]
        with self._lock, self.log_path.open("ab") as file:
            self._log_start = file.seek(0, os.SEEK_END)
            self._guard = subprocess.Popen(
                guard,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
                start_new_session=True,
                pass_fds=(life_read, report_write),
                env={**os.environ, **self.environment()},
            )
            self._lifeline = life_write
        os.close(life_read)
        os.close(report_write)
        with os.fdopen(report_read) as report:
            said = report.readline().strip()
        self.pid = int(said) if said else None

    def _wait_for_health(self) -> None:
        end = time.monotonic() + self._deadline_s
        while not healthy(self.url, 2.0):
            if self._ended():
                raise self._why_not("did not start")
            if time.monotonic() > end:
                raise self._why_not(f"was not ready after {self._deadline_s:g} s")
            if self._stopping.wait(0.25):
                raise OpenError(f"{self.model} was stopped while it was starting.")

    def _why_not(self, what: str) -> OpenError:
        words, advice = vllm_log.reason(vllm_log.tail(self.log_path, self._log_start))
        return OpenError(f"vLLM with {self.model} {what}: {words} (log: {self.log_path})", advice)

    def _ask_about_a_picture(self) -> None:
        try:
            ask_about_a_picture(self.url, self._prompt, PROBE_DEADLINE_S)
        except OpenError as exc:
            raise OpenError(f"{exc.message} (log: {self.log_path})", exc.advice) from exc

    def _end(self) -> None:
        with self._lock:
            guard, self._guard = self._guard, None
            lifeline, self._lifeline = self._lifeline, None
            pid, self.pid = self.pid, None
        if lifeline is not None:
            os.close(lifeline)
        if guard is None:
            return
        try:
            guard.wait(timeout=parent_watch.GRACE_S + 5.0)
        except subprocess.TimeoutExpired:
            guard.kill()
            guard.wait()
        _kill_group(pid)  # the guard may have been killed before it could do this

    # watching

    def _ended(self) -> bool:
        guard = self._guard
        return guard is None or guard.poll() is not None

    def _keep(self) -> None:
        """The watcher's thread: checks every few seconds until `stop`, or until it gives up."""
        pulse = Pulse(
            self._watch,
            lambda timeout_s: healthy(self.url, timeout_s),
            lambda: tokens_and_running(self.url, self._watch.answer_s),
        )
        while not self._stopping.wait(self._watch.every_s):
            trouble = "it ended" if self._ended() else pulse.trouble(time.monotonic())
            if trouble is not None and not self._restart(trouble):
                return
            if trouble is not None:
                pulse.reset()

    def _restart(self, trouble: str) -> bool:
        with self.log_path.open("a") as file:
            file.write(f"\n--- penstock restarts this server: {trouble}\n")
        _kill_group(self.pid)  # at once: a hung server ignores SIGTERM, and requests wait for the next one
        self._end()
        while self.restarts < self._watch.max_restarts and not self._stopping.is_set():
            self.restarts += 1
            log.warning("server %s is restarted: %s", self.url, trouble, extra=self._facts(reason=trouble))
            try:
                self._bring_up()
            except OpenError as exc:
                self.failure = exc
            else:
                self.failure = None
                log.warning("server %s answers again", self.url, extra=self._facts())
                return True
        self.failure = self.failure or OpenError(f"{self.model} died {self.restarts} times: {trouble}.")
        log.error("server %s is given up: %s", self.url, self.failure, extra=self._facts(reason=trouble))
        return False

    def _facts(self, **more: str) -> dict[str, object]:
        """Returns what a log line about this server holds besides its words."""
        return {"url": self.url, "model": self.model, "gpu": self.gpu, "restarts": self.restarts,
                "server_log": str(self.log_path), **more}  # fmt: skip


def _kill_group(pid: int | None) -> None:
    if pid is not None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def start_all(servers: Sequence[ManagedServer]) -> None:
    """Starts all servers at once, but in turn where `in_turns` says so. Stops all if one fails."""
    if not servers:
        return

    def start_in_turn(group: list[ManagedServer]) -> None:
        for server in group:
            server.start()

    groups = in_turns(servers, lambda server: server.gpu, lambda server: server.command(["vllm"]))
    with contextlib.ExitStack() as undo:
        undo.callback(stop_all, servers)
        with ThreadPoolExecutor(len(groups), thread_name_prefix="vllm-start") as pool:
            for done in [pool.submit(start_in_turn, group) for group in groups]:
                done.result()
        undo.pop_all()


def stop_all(servers: Sequence[ManagedServer]) -> None:
    """Ends all servers at once: each takes seconds to give its card back."""
    if servers:
        with ThreadPoolExecutor(len(servers), thread_name_prefix="vllm-stop") as pool:
            for done in [pool.submit(server.stop) for server in servers]:
                done.result()


def in_turns(
    servers: Sequence[S], gpu: Callable[[S], int | None], command: Callable[[S], Sequence[str]]
) -> list[list[S]]:
    """Returns groups that may start at once; those in a group start one after another.

    vLLM measures a card's free memory while it starts, so two at once would measure each other, unless
    each was given its memory.
    """
    groups: dict[object, list[S]] = {}
    measured = {gpu(server) for server in servers if measures_its_card(command(server))}
    for number, server in enumerate(servers):
        own = (gpu(server),) if gpu(server) in measured else number
        groups.setdefault(own, []).append(server)
    return list(groups.values())
