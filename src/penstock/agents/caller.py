"""The client of the current MCP call and its progress callback, as a context variable."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from penstock.serve.guard.keys import EVERYONE, KeyOwner

Report = Callable[[float, float | None, str], Awaitable[None]]  # done, of how many, in words


async def _to_nobody(done: float, total: float | None, words: str) -> None: ...


@dataclass(frozen=True, slots=True)
class Caller:
    """`owner` is whose key came with the call."""

    owner: KeyOwner = EVERYONE
    report: Report = _to_nobody


_CALLER: ContextVar[Caller] = ContextVar("penstock-caller")
_NOBODY = Caller()


def caller() -> Caller:
    """Returns who calls; without a server everyone."""
    return _CALLER.get(_NOBODY)


@contextmanager
def called_by(one: Caller) -> Iterator[None]:
    """Calls inside the block, and in threads they wait for, are this caller's."""
    token = _CALLER.set(one)
    try:
        yield
    finally:
        _CALLER.reset(token)
