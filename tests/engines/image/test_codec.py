"""Pictures as bytes and back, in RGB."""

from __future__ import annotations

import numpy as np
import pytest

from penstock.engines.image.codec import decode_rgb, encode_jpeg, encode_png

RED = np.full((32, 48, 3), (250, 10, 20), np.uint8)


def test_png_keeps_every_pixel_in_its_channel() -> None:
    read = decode_rgb(encode_png(RED))
    assert read is not None and np.array_equal(read, RED)


@pytest.mark.parametrize("full_colour", [False, True])
def test_jpeg_keeps_channels_in_their_order(full_colour: bool) -> None:
    read = decode_rgb(encode_jpeg(RED, 95, full_colour=full_colour))
    assert read is not None and np.abs(read.astype(int) - RED).max() < 8


def test_grey_pictures_are_written_with_one_channel() -> None:
    assert len(encode_jpeg(RED[:, :, 0], 90)) < len(encode_jpeg(RED, 90))


def test_a_part_of_a_picture_is_written_without_a_copy_by_the_caller() -> None:
    page = np.random.default_rng(0).integers(0, 255, (60, 80, 3)).astype(np.uint8)
    read = decode_rgb(encode_png(page[10:40, 20:70]))
    assert read is not None and np.array_equal(read, page[10:40, 20:70])


@pytest.mark.parametrize("data", [b"", b"no picture"])
def test_what_is_no_picture_is_none(data: bytes) -> None:
    assert decode_rgb(data) is None
