"""Values as JSON and separate bytes: what a process that read strangers' bytes answers with.

Made for one end that does not trust the other. Holds None, numbers, text, bytes, lists, tuples, dictionaries,
arrays of numbers, frozen dataclasses and named tuples of modules that are loaded here, and our errors. A
pickle would let the other end name functions, put attributes on classes, and claim memory by one byte; this
can do none of it.
"""

from __future__ import annotations

import json
import math
import sys
from array import array
from collections.abc import Callable, Iterable
from dataclasses import fields, is_dataclass
from functools import lru_cache
from typing import Any

from penstock.errors import PenstockError

MAX_TEXT_BYTES = 64 << 20
MAX_VALUES = 4_000_000  # a page of 100,000 words has 2 million
MAX_DIMENSIONS = 8
SCALARS = frozenset({type(None), bool, int, float, str})
KINDS = "biufc"  # of arrays, by numpy: numbers of every sort, and never objects, text or records
BOX = 4  # numbers of a box: most of what a page holds
Buffer = bytes | bytearray | memoryview


class NotPlain(ValueError):
    """The value is no plain data, or claims what it does not hold."""


def encoded(value: object) -> tuple[bytes, list[Buffer]]:
    """Returns the text and the bytes that `decoded` makes the value of. Raises NotPlain."""
    writer = _Writer()
    text = json.dumps(writer.plain(value), separators=(",", ":")).encode("ascii")
    return text, [*writer.buffers, writer.floats.tobytes()]


def decoded(text: bytearray, buffers: list[bytearray]) -> Any:
    """Returns the value. Raises NotPlain for whatever else the text holds."""
    if len(text) > MAX_TEXT_BYTES or text.count(b",") + text.count(b"[") > MAX_VALUES:
        raise NotPlain("it holds too many values")
    try:
        *others, floats = buffers
        return _PlainReader(others, array("d", bytes(floats))).value(json.loads(text))
    except NotPlain:
        raise
    except Exception as exc:  # of a class that was given what it cannot take: any it may raise
        raise NotPlain(f"{type(exc).__name__}: {exc}") from exc


class _Writer:
    """Makes lists of values: a mark of what it is, then what it holds. Bytes stay where they are."""

    def __init__(self) -> None:
        self.buffers: list[Buffer] = []
        self.floats = array("d")  # of boxes: as text they would take longer than all the rest

    def plain(self, value: Any) -> Any:
        kind = type(value)
        if kind in SCALARS:
            return value
        if kind is tuple and len(value) == BOX and {*map(type, value)} == {float}:
            self.floats.extend(value)
            return ["f", len(self.floats) - BOX]
        if kind is tuple or kind is list:
            return self._all("t" if kind is tuple else "l", value)
        if (shape := _plain_class(kind)) is not None:  # type: ignore[arg-type]  # a class is hashable
            return self._all("o", (shape.name, *shape.values(value)))
        if kind is dict:
            return self._all("d", (one for pair in value.items() for one in pair))
        if kind is bytes or kind is bytearray:
            return ["b", self._kept(value)]
        if isinstance(value, PenstockError):
            return ["e", _name(kind), value.message, value.advice]
        return self._number(value)

    def _all(self, mark: str, values: Iterable[Any]) -> list[Any]:
        plain = self.plain  # a page of words has thousands of numbers: no call for each
        return [mark, *[one if type(one) in SCALARS else plain(one) for one in values]]

    def _number(self, value: Any) -> Any:
        numpy = sys.modules.get("numpy")
        if numpy is not None and isinstance(value, numpy.generic) and value.dtype.kind in KINDS[:-1]:
            return value.item()
        if numpy is None or type(value) is not numpy.ndarray or value.dtype.kind not in KINDS:
            raise NotPlain(f"{_name(type(value))} is no data")
        flat = numpy.ascontiguousarray(value).reshape(-1)
        return ["a", value.dtype.str, list(value.shape), self._kept(memoryview(flat.view(numpy.uint8)))]

    def _kept(self, data: Buffer) -> int:
        self.buffers.append(data)
        return len(self.buffers) - 1


class _PlainReader:
    """Makes the values of what a `_Writer` wrote, or a liar."""

    def __init__(self, buffers: list[bytearray], floats: array[float]) -> None:
        self._buffers = buffers
        self._floats = floats
        self._makers: dict[str, Callable[[list[Any]], Any]] = {
            "t": lambda rest: tuple(self._all(rest)),
            "l": self._all,
            "f": lambda rest: self._box(*rest),
            "d": self._dictionary,
            "b": lambda rest: bytes(self._buffer(*rest)),
            "o": self._dataclass,
            "e": self._error,
            "a": self._array,
        }

    def value(self, plain: Any) -> Any:
        kind = type(plain)
        if kind in SCALARS:
            return plain
        if kind is not list:
            raise NotPlain("a dictionary of JSON is no value")
        return self._makers[plain[0]](plain[1:])

    def _all(self, plain: list[Any]) -> list[Any]:
        value = self.value
        return [one if type(one) in SCALARS else value(one) for one in plain]

    def _box(self, start: int) -> tuple[float, ...]:
        if type(start) is not int or not 0 <= start <= len(self._floats) - BOX:
            raise NotPlain("there are no such numbers")
        return tuple(self._floats[start : start + BOX])

    def _dictionary(self, rest: list[Any]) -> dict[Any, Any]:
        keys, values = rest[::2], rest[1::2]
        if not all(type(key) in SCALARS for key in keys):  # hashing tuples within tuples has no bound
            raise NotPlain("a key is no word or number")
        return dict(zip(keys, self._all(values), strict=True))

    def _dataclass(self, rest: list[Any]) -> Any:
        shape = _plain_class(_class(rest[0]))
        if shape is None:
            raise NotPlain(f"{rest[0]} is no data")
        values = dict(zip(shape.fields, self._all(rest[1:]), strict=True))
        if any(values[name] is None for name in shape.lists):
            raise NotPlain(f"{rest[0]} lacks a list")
        return shape.kind(**values)

    def _error(self, rest: list[Any]) -> PenstockError:
        name, message, advice = rest
        made = _class(name)
        if not issubclass(made, PenstockError) or type(message) is not str or type(advice) is not str:
            raise NotPlain(f"{name} is no data")
        return made(message, advice)

    def _array(self, rest: list[Any]) -> Any:
        """Returns an array over its bytes, which are exactly as many as its shape says."""
        import numpy  # what has no pages needs none

        word, shape, number = rest
        if type(word) is not str or len(word) > 4 or word[1:2] not in KINDS:
            raise NotPlain(f"an array of {word!r} is no data")
        kind, data = numpy.dtype(word), self._buffer(number)
        if len(shape) > MAX_DIMENSIONS or not all(type(side) is int and side >= 0 for side in shape):
            raise NotPlain("an array's shape is no shape")
        if kind.kind not in KINDS or math.prod(shape) * kind.itemsize != len(data):
            raise NotPlain("an array's bytes are not of its shape")
        if kind.kind == "b" and data.translate(None, b"\x00\x01"):
            raise NotPlain("an array of yes and no holds something else")  # numpy counts by adding them up
        return numpy.ndarray(tuple(shape), kind, data)

    def _buffer(self, number: int) -> bytearray:
        if type(number) is not int or number < 0:
            raise NotPlain("there are no such bytes")
        return self._buffers[number]


def _name(kind: type) -> str:
    return f"{kind.__module__}:{kind.__qualname__}"


@lru_cache(256)
def _class(name: str) -> type:
    """Returns a class that is known here. Imports nothing: the other end names it."""
    module, _, path = name.partition(":")
    found: Any = sys.modules.get(module)
    for part in path.split("."):
        found = vars(found).get(part) if found is not None else None
    if not isinstance(found, type):
        raise NotPlain(f"{name[:200]} is no data")
    return found


class _PlainClass:
    """A frozen dataclass or a named tuple: its name, its fields, and what takes their values from one."""

    def __init__(self, kind: Any) -> None:
        self.kind = kind
        self.name = _name(kind)
        named = fields(kind) if is_dataclass(kind) else ()
        self.fields = tuple(field.name for field in named if field.init) or kind._fields
        self.lists = tuple(field.name for field in named if field.init and field.default == ())

    def values(self, one: object) -> list[Any]:
        return [getattr(one, name) for name in self.fields]


@lru_cache(256)
def _plain_class(kind: type) -> _PlainClass | None:
    """Returns the shape of a class that holds data. Those that can change may be more than data."""
    is_frozen = is_dataclass(kind) and kind.__dataclass_params__.frozen  # type: ignore[attr-defined]
    return _PlainClass(kind) if is_frozen or (issubclass(kind, tuple) and hasattr(kind, "_fields")) else None
