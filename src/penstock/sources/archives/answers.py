"""Reads archives one after another. Runs in the child that listing.py starts."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice

from penstock.errors import BadInput
from penstock.sources.archives.mail import eml_members, msg_members
from penstock.sources.archives.members import LeftOut, Member, Members, NextMembers
from penstock.sources.archives.tar import tar_members
from penstock.sources.archives.warc import wacz_members, warc_members
from penstock.sources.archives.zip import zip_members

MAX_AT_ONCE = 64
MAX_ANSWER_BYTES = 32 << 20  # and one member more
MAX_ANSWER_S = 10.0  # a crawl may hold a million records that are no documents
OPENERS: dict[str, Callable[[str], Iterator[Member | LeftOut]]] = {
    "warc": warc_members,
    "wacz": wacz_members,
    "tar": tar_members,
    "zip": zip_members,
    "eml": eml_members,
    "msg": msg_members,
}


def open_archives() -> Callable[[NextMembers], Members]:
    """Runs in the child."""
    return ArchiveAnswers()


class ArchiveAnswers:
    """Answers NextMembers. Keeps the last archive open: its members are asked for in order."""

    def __init__(self) -> None:
        self._open: tuple[str, Iterator[Member | LeftOut]] | None = None
        self._given = 0
        self._error: BadInput | None = None  # of the next answer: the documents before it were read

    def __call__(self, question: NextMembers) -> Members:
        if self._error is not None and question.start == self._given:
            raise self._error
        if self._open is None or self._open[0] != question.path or question.start != self._given:
            self._open = question.path, OPENERS[question.kind](question.path)
            self._error = None
            self._given = sum(1 for _ in islice(self._documents(Counter()), question.start))
        left_out: Counter[str] = Counter()
        found, num_bytes, end = [], 0, time.monotonic() + MAX_ANSWER_S
        for member in self._documents(left_out, end):
            self._given += 1
            found.append(member)
            num_bytes += member.num_bytes
            if len(found) >= MAX_AT_ONCE or num_bytes >= MAX_ANSWER_BYTES:
                return Members(tuple(found), dict(left_out))
        return Members(tuple(found), dict(left_out), is_last=self._error is None and time.monotonic() < end)

    def _documents(self, left_out: Counter[str], end: float = float("inf")) -> Iterator[Member]:
        """Yields the next documents, up to `end`; keeps the error where the archive is damaged."""
        assert self._open is not None
        try:
            for member in self._open[1]:
                if isinstance(member, Member):
                    yield member
                else:
                    left_out[member.kind] += 1
                if time.monotonic() >= end:
                    return
        except BadInput as exc:
            self._error = exc
