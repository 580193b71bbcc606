"""Waits for several answers of the network at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TypeVar

Asked = TypeVar("Asked")
Answer = TypeVar("Answer")

MAX_AT_ONCE = 8  # downloads: each waits for a server most of the time


def side_by_side(
    fetch: Callable[[Asked], Answer], asked: Sequence[Asked], at_once: int = MAX_AT_ONCE
) -> list[Answer]:
    """Returns the answers in the order of what was asked. Raises the first error of `fetch`.

    Threads are daemons, so that Ctrl-C need not wait for a server.
    """
    waiting: SimpleQueue[int] = SimpleQueue()
    answers: dict[int, Answer] = {}
    errors: list[BaseException] = []
    for number in range(len(asked)):
        waiting.put(number)

    def work() -> None:
        try:
            while not errors:
                number = waiting.get_nowait()
                answers[number] = fetch(asked[number])
        except Empty:
            pass
        except BaseException as exc:  # raised by the caller's thread: on this one it would be lost
            errors.append(exc)

    threads = [Thread(target=work, name="fetch", daemon=True) for _ in range(min(at_once, len(asked)))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return [answers[number] for number in range(len(asked))]
