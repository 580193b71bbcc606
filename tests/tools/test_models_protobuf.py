"""Fields that we write are the fields that we read."""

from __future__ import annotations

import pytest

from tests.tools.models import tool

protobuf = tool("protobuf")
FIXED32, VARINT = protobuf.FIXED32, protobuf.VARINT
encoded_field, encoded_varint = protobuf.encoded_field, protobuf.encoded_varint
fields, varint = protobuf.fields, protobuf.varint


@pytest.mark.parametrize("value", [0, 1, 127, 128, 300, 1 << 40])
def test_a_number_comes_back(value: int) -> None:
    encoded = encoded_varint(value)
    assert varint(encoded, 0) == (value, len(encoded))


def test_fields_come_back_in_order_with_their_values() -> None:
    number = encoded_varint(2 << 3 | VARINT) + encoded_varint(300)
    fixed = encoded_varint(3 << 3 | FIXED32) + b"abcd"
    message = encoded_field(1, b"text") + number + fixed
    text, count, four = fields(message, 0, len(message))
    assert (text.number, message[text.start : text.end]) == (1, b"text")
    assert (count.number, varint(message, count.start)[0]) == (2, 300)
    assert (four.number, message[four.start : four.end]) == (3, b"abcd")
    assert [field.begin for field in (text, count, four)] == [0, text.end, count.end]


def test_bytes_that_are_no_protobuf_raise() -> None:
    with pytest.raises(ValueError, match="wire type"):
        list(fields(b"\x0f\x00", 0, 2))
    with pytest.raises(IndexError):
        list(fields(b"\x80", 0, 1))
