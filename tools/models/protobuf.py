"""Reads and writes the fields of protobuf messages, as far as rewriting an ONNX file needs it.

Knows wire types and no schema: field numbers are the caller's. Bytes that are no protobuf raise
ValueError or IndexError.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5  # protobuf's wire types
FIXED_SIZES = {FIXED64: 8, FIXED32: 4}
Message = bytes | bytearray


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a message: its number, the span of its value, and where the whole begins."""

    number: int
    begin: int
    start: int
    end: int


def fields(message: Message, at: int, end: int) -> Iterator[Field]:
    """The fields between `at` and `end`, in the order of the file."""
    while at < end:
        begin = at
        key, at = varint(message, at)
        kind, start = key & 7, at
        if kind == VARINT:
            _, stop = varint(message, at)
        elif kind == BYTES:
            length, start = varint(message, at)
            stop = start + length
        elif kind in FIXED_SIZES:
            stop = at + FIXED_SIZES[kind]
        else:
            raise ValueError(f"not a protobuf wire type: {kind}")
        yield Field(key >> 3, begin, start, stop)
        at = stop


def varint(message: Message, at: int) -> tuple[int, int]:
    """The number that begins at `at`, and where it ends."""
    value = shift = 0
    while True:
        byte = message[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def encoded_varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def encoded_field(number: int, value: bytes) -> bytes:
    """A field that holds bytes, text or another message."""
    return encoded_varint(number << 3 | BYTES) + encoded_varint(len(value)) + value
