"""Reads answers that a child which was taken over might send, and counts how they end.

    python -m tests.support.hostile_answers SEED COUNT

Run in a process of its own: a crash of the interpreter is what must not happen. Values that come out are used
as a parent would use them: compared, shown, summed, used as masks. Prints JSON: refused, taken.
"""

from __future__ import annotations

import json
import pickle
import random
import socket
import struct
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from penstock.errors import BadInput
from penstock.page import Page
from penstock.processes.plain import NotPlain, encoded
from penstock.processes.wire import LENGTH, Frames
from penstock.region import TextLayer, Word

MAX_BYTES = 1 << 22
NUMBERS = (0, 1, 3, -1, 7, 2**31, 2**32 + 1, 2**63 - 1, 2**64 - 1)
KINDS = [
    "O",
    "|O",
    "V8",
    "<U4",
    "S3",
    "<M8[s]",
    "<f8",
    "|b1",
    "|u1",
    "f8,O",
    "<c16",
    "<f16",
    "<i9",
    "",
    "x" * 99,
]
NAMES = [
    "os:system", "builtins:eval", "subprocess:Popen", "numpy:ndarray", "numpy:dtype", "pathlib:Path",
    "penstock.page:Page", "penstock.region:Word", "penstock.errors:BadInput", "penstock.errors:Failure",
    "penstock.processes.child:Child", "penstock.page:Page.number", "penstock.__main__:main", ":", "a:b:c", "",
]  # fmt: skip


def framed(text: bytes, *buffers: bytes, floats: bytes = b"") -> bytes:
    parts = [*buffers, floats, text]
    return b"".join([LENGTH.pack(len(parts)), *(LENGTH.pack(len(part)) for part in parts), *parts])


def honest() -> list[bytes]:
    word = Word(text="word \ud800 한글", box=(1.0, 2.5, 3.0, float("inf")), size=1e300)
    page = Page(id="a", uri="b", document="c", layer=TextLayer(words=(word,) * 3), image=b"jpeg" * 9)
    mask = np.arange(12).reshape(3, 4) % 2 == 0
    values = [
        ("ok", [page], 1.0),
        ("ok", {"mask": mask, 1: np.eye(3)}, 2.0),
        ("error", BadInput("x", "y"), 0.5),
    ]
    made = [(text, [*map(bytes, buffers)]) for text, buffers in map(encoded, values)]
    return [framed(text, *buffers, floats=floats) for text, (*buffers, floats) in made]


def written_by_hand() -> Iterator[bytes]:
    yield from (
        b"",
        b"\x00" * 8,
        b"\xff" * 64,
        framed(b"["),
        framed(b"[" * 200_000),
        framed(b"[[],[]" * 99_999),
    )
    yield framed(b'["d",' + b'["t",' * 900 + b"1" + b"]" * 900 + b",1]")  # a key that is hashed without end
    yield framed(b'["t",' * 5000 + b"1" + b"]" * 5000)
    for count in NUMBERS:
        yield struct.pack("!Q", count & (2**64 - 1)) + b"\x00" * 64
        yield struct.pack("!QQ", 1, count & (2**64 - 1)) + b"[]"
        yield framed(json.dumps(["b", count]).encode(), b"x")
        yield framed(json.dumps(["f", count]).encode(), floats=bytes(40))
        yield framed(json.dumps(["f", 0]).encode(), floats=bytes(count % 40))
        yield framed(json.dumps(["a", "<f8", [count, 1], 0]).encode(), bytes(8))
        yield framed(json.dumps(["a", "|u1", [0, count], 0]).encode(), b"")
    for kind in KINDS:
        yield framed(json.dumps(["a", kind, [1], 0]).encode(), b"AAAAAAAA")
    yield framed(json.dumps(["a", "|b1", [8], 0]).encode(), b"\xff" * 8)
    for name in NAMES:
        for rest in ([], ["x"], ["x", "y"], [["t"]] * 8, [["b", 0]] * 8, [None] * 30):
            yield framed(json.dumps(["o", name, *rest]).encode(), b"x")
            yield framed(json.dumps(["e", name, *rest]).encode(), b"x")
    yield pickle.dumps(np.array([object()]), 5)
    yield LENGTH.pack(0) + pickle.dumps(("ok", np.zeros(3), 0.0), 5)


def mutated(random_: random.Random) -> bytes:
    data = bytearray(random_.choice(HONEST))
    for _ in range(random_.choice((1, 1, 2, 5, 20))):
        at = random_.randrange(len(data))
        what = random_.randrange(4)
        if what == 0:
            data[at] = random_.randrange(256)
        elif what == 1:
            data[at:at] = random_.choice((b"[", b"]", b'"a",', b"9", b"null", b"-1", b'["o",'))
        elif what == 2:
            del data[at : at + random_.randrange(1, 9)]
        else:
            data[at : at + 1] = data[at : at + random_.randrange(1, 30)] * 2
    return bytes(data or b"x")


HONEST = honest()


def outcome(data: bytes) -> str:
    ours, theirs = socket.socketpair()
    theirs.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4 << 20)
    with ours, theirs:
        theirs.settimeout(0.2)
        try:
            theirs.sendall(data)
        except TimeoutError:
            return "too long for the test"
        theirs.shutdown(socket.SHUT_WR)
        try:
            _used(Frames(ours, max_bytes=MAX_BYTES).receive())
        except (NotPlain, EOFError):
            return "refused"
        return "taken"


def _used(value: Any) -> None:
    """Does with a value what a parent may do."""
    repr(value)
    if isinstance(value, np.ndarray):
        value.sum()
        if value.dtype == bool:
            np.zeros(value.shape)[value]
    elif isinstance(value, dict | tuple | list):
        for one in value.values() if isinstance(value, dict) else value:
            _used(one)


def main() -> None:
    random_ = random.Random(int(sys.argv[1]))
    ends = Counter(map(outcome, written_by_hand()))
    ends.update(outcome(mutated(random_)) for _ in range(int(sys.argv[2])))
    ends["honest"] = sum(outcome(data) == "taken" for data in HONEST)
    print(json.dumps(ends))


if __name__ == "__main__":
    main()
