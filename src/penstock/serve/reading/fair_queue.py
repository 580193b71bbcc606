"""Documents that take turns, a few pages each: a long one holds up no short one.

Those who send them take turns, too: 1,000 documents of one client do not hold up another's.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Generic, TypeVar

T = TypeVar("T")

PAGES_A_TURN = 4  # those who read them open a file for each turn
DOCUMENTS_A_ROUND = 16  # of one sender; then it is seen who else has come


class FairQueue(Generic[T]):
    """The pages of documents that are not read yet, shared out fairly."""

    def __init__(self, documents_a_round: int = DOCUMENTS_A_ROUND) -> None:
        self._documents_a_round = documents_a_round
        self._by_owner: dict[str, deque[Iterator[T]]] = {}

    def __bool__(self) -> bool:
        return bool(self._by_owner)

    def add(self, pages: Iterable[T], owner: str = "") -> None:
        self._by_owner.setdefault(owner, deque()).append(iter(pages))

    def round(self) -> Iterator[T]:
        """Yields the next pages of some documents of everyone."""
        for owner, documents in list(self._by_owner.items()):
            for _ in range(min(self._documents_a_round, len(documents))):
                pages = documents.popleft()
                turn = list(islice(pages, PAGES_A_TURN))
                if len(turn) == PAGES_A_TURN:
                    documents.append(pages)
                yield from turn
            if not documents:
                del self._by_owner[owner]
