"""Every error Penstock raises, as one tree.

PenstockError
├── UsageError            the call is wrong: unknown recipe, no input, bad page range      (exit 2)
│   ├── PlanError         stages do not fit together
│   ├── PlanMismatch      OUT was made by another plan
│   └── OutLocked         another run is writing to OUT
├── MissingModel          weights or a package are absent; the message says what to run    (exit 2)
├── OpenError             a worker could not be opened                                     (exit 2)
├── StoreError            OUT cannot be written, or is damaged: a full disk, half a shard  (exit 2)
├── NoProgress            nothing moved for too long; the message holds depths and stacks  (exit 2)
└── ItemError             one item failed; becomes a `Failure` and never ends a run
    ├── BadInput          the bytes are broken, encrypted, too large or not what they claim
    ├── WorkerDied        the process reading the item died
    ├── DeadlinePassed    the item took longer than its stage allows
    └── EngineError       a model or server could not do it

Errors say what happened, to what, and what to do. `advice` is the last of these where it fits
in a sentence of its own.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from dataclasses import dataclass
from typing import Literal

from penstock.redaction import redacted

# What Python raises while it reads a ZIP or packed bytes that somebody broke, locked (RuntimeError) or packed
# in a way that it does not know (NotImplementedError)
BROKEN_ZIP = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError)

DISTRIBUTION = "penstock-pipeline"  # what pip installs; `penstock` on the package index is another project


def install_advice(extra: str) -> str:
    """Returns the sentence that tells a user how to add an extra."""
    return f"Run: pip install '{DISTRIBUTION}[{extra}]'"


def first_line(exc: BaseException) -> str:
    """The first line of what an exception says; its class's name where it says nothing."""
    return (str(exc).strip().splitlines() or [type(exc).__name__])[0]


_OTHER_CALL = re.compile(r"--[a-z]|\bpip install\b")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def shown(text: str) -> str:
    """Returns a text that may go to a terminal and a log: no passwords, no bytes that steer a terminal.

    What servers and files say ends up in messages.
    """
    return _CONTROL.sub("\ufffd", redacted(text))


class PenstockError(Exception):
    """Root of the tree. `advice` is a sentence on what to do, or empty."""

    def __init__(self, message: str, advice: str = "") -> None:
        self.message = shown(message)
        self.advice = shown(advice)
        super().__init__(self.message)

    def __reduce__(self) -> tuple[type[PenstockError], tuple[str, str]]:
        # errors cross process boundaries; the default drops `advice`
        return type(self), (self.message, self.advice)

    def __str__(self) -> str:
        gap = "" if self.message.endswith("\n") else " "
        return f"{self.message}{gap}{self.advice}".rstrip()


class UsageError(PenstockError):
    """The call is wrong."""


class PlanError(UsageError):
    """Stages do not fit together."""


class PlanMismatch(UsageError):
    """OUT was made by another plan."""


class OutLocked(UsageError):
    """Another run is writing to OUT."""


class MissingModel(PenstockError):
    """Weights or a package are absent."""


class OpenError(PenstockError):
    """A worker could not be opened."""


class StoreError(PenstockError):
    """OUT cannot be written, or what is there is damaged."""


class NoProgress(PenstockError):
    """Nothing moved for too long."""


class ItemError(PenstockError):
    """One item failed; the run goes on."""


class BadInput(ItemError):
    """The bytes are broken, encrypted, too large or not what they claim."""


class WorkerDied(ItemError):
    """The process reading the item died."""


class DeadlinePassed(ItemError):
    """The item took longer than its stage allows."""


class EngineError(ItemError):
    """A model or server could not do it."""


Outlook = Literal["retry", "other_call", "final"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why an item or a part of it has no result: an error as data. `kind` is the error's class name."""

    stage: str
    kind: str
    message: str
    advice: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "message", shown(self.message))
        object.__setattr__(self, "advice", shown(self.advice))

    @property
    def outlook(self) -> Outlook:
        """Whether another attempt can help: as it is, with other options, or never.

        Bytes that are broken stay broken. A file that was saved again is a new input and has a new id.
        """
        if self.kind != BadInput.__name__:
            return "retry"
        return "other_call" if _OTHER_CALL.search(self.advice) else "final"

    @classmethod
    def of(cls, exc: Exception, stage: str) -> Failure:
        """Returns the failure that an exception in `stage` means."""
        if isinstance(exc, PenstockError):
            return cls(stage=stage, kind=type(exc).__name__, message=exc.message, advice=exc.advice)
        return cls(stage=stage, kind=type(exc).__name__, message=f"{type(exc).__name__}: {exc}")
