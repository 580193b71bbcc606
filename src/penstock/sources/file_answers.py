"""Counts the pages of PDFs, the frames of pictures, and the units of files with a structure of their own.

Runs in the child that probe.py starts.
"""

from __future__ import annotations

from penstock.engines.pdf.document import count_pages
from penstock.errors import BadInput
from penstock.sources.formats import STRUCTURES, Kind
from penstock.sources.probe_questions import CountParts, PartCount


class FileAnswers:
    """Answers CountParts: the parts of each file, or why they cannot be counted."""

    def __init__(self, password: str | None) -> None:
        self._password = password

    def __call__(self, question: CountParts) -> list[PartCount | BadInput]:
        return [self._count(path, kind) for path, kind in question.files]

    def _count(self, path: str, kind: Kind) -> PartCount | BadInput:
        try:
            if kind in STRUCTURES:
                return _count_units(path, kind)
            return PartCount(*count_pages(path, self._password)) if kind == "pdf" else _count_frames(path)
        except BadInput as exc:
            return exc


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
