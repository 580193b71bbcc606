"""Counts the pages of PDFs, the frames of pictures, and the units of files with a structure of their own.

Runs in the child that probe.py starts.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager

from penstock.engines.pdf.document import count_pages
from penstock.errors import BadInput, DeadlinePassed
from penstock.sources.formats import STRUCTURES, Kind
from penstock.sources.probe_questions import CountParts, PartCount

# of computing, for a file: most take milliseconds. When all have taken together what is allowed, the rest get
# less each, so that the last one is looked at, too
SLICE_S, ALL_S, SHORT_SLICE_S = 0.3, 0.6, 0.03


class _SliceEnded(BaseException):
    """Nothing that reads a file takes this for an error of the file."""


class FileAnswers:
    """Answers CountParts: the parts of each file, or why they cannot be counted."""

    def __init__(self, password: str | None) -> None:
        self._password = password

    def __call__(self, question: CountParts) -> list[PartCount | BadInput | DeadlinePassed]:
        if question.in_slices:
            return list(self._in_slices(question))
        return [self._count(path, kind) for path, kind in question.files]

    def _in_slices(self, question: CountParts) -> Iterator[PartCount | BadInput | DeadlinePassed]:
        began = time.process_time()
        for path, kind in question.files:
            slice_s = SLICE_S if time.process_time() - began < ALL_S else SHORT_SLICE_S
            try:
                with _slice(slice_s):
                    answer = self._count(path, kind)
                yield answer
            except _SliceEnded:
                yield DeadlinePassed("it takes long to count its pages.")

    def _count(self, path: str, kind: Kind) -> PartCount | BadInput:
        try:
            if kind in STRUCTURES:
                return _count_units(path, kind)
            return PartCount(*count_pages(path, self._password)) if kind == "pdf" else _count_frames(path)
        except BadInput as exc:
            return exc


@contextmanager
def _slice(seconds: float) -> Iterator[None]:
    """Raises _SliceEnded in what takes longer. The parent's deadline ends native code."""

    def ended(*_: object) -> None:
        raise _SliceEnded

    before = signal.signal(signal.SIGPROF, ended)
    try:
        signal.setitimer(signal.ITIMER_PROF, seconds)
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _count_units(path: str, kind: Kind) -> PartCount:
    from penstock.engines.office.open import open_structure  # as below

    file = open_structure(path, kind)
    try:
        return PartCount(file.num_units, file.num_units)
    finally:
        file.close()


def _count_frames(path: str) -> PartCount:
    # OpenCV and numpy; a listing of PDFs waits for neither these nor readers of Office files
    from penstock.engines.image.decode import PictureFile, trust_our_bound

    trust_our_bound()  # counting frames decodes none of them
    with PictureFile(path, max_pixels=1 << 62) as frames:  # reading a frame tells whether it is too large
        return PartCount(frames.num_frames, frames.num_frames)
