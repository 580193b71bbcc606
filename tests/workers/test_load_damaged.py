"""Pictures that are cut off, damaged or claim too much fail alone, with a sentence."""

from __future__ import annotations

import io
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, features

from penstock.errors import BadInput
from penstock.page import Page
from penstock.sources import list_items
from penstock.stage import Worker
from penstock.stages.load import Load
from tests.support.bombs import claiming_avif, far_gif, tiff
from tests.support.loaded import colours, load, load_items, made_png


def test_a_gif_whose_frame_lies_far_outside_keeps_its_other_frames(tmp_path: Path) -> None:
    """Its second frame would make a picture of 30,000 x 30,000 pixels, and the third is drawn on that."""
    (tmp_path / "far.gif").write_bytes(far_gif())
    items = list(list_items([str(tmp_path / "far.gif")], Page))
    worker: Worker = Load().open()
    try:
        for index in (1, 2, 1):
            with pytest.raises(BadInput, match="larger than 89,478,485 pixels"):
                worker([items[index]])
        assert [page.width for page in worker([items[0]])] == [10]
    finally:
        worker.close()


@pytest.mark.parametrize("name", ["a.jpg", "a.png", "a.tif", "a.webp", "a.bmp", "a.gif"])
@pytest.mark.parametrize("part", [0.3, 0.7, 0.95])
def test_a_truncated_picture_is_a_sentence(tmp_path: Path, name: str, part: float) -> None:
    noise = np.random.default_rng(7).integers(0, 255, (90, 120, 3), np.uint8)
    whole = io.BytesIO()
    Image.fromarray(noise).save(whole, Image.registered_extensions()[f".{name[2:]}"])
    (tmp_path / name).write_bytes(whole.getvalue()[: int(part * len(whole.getvalue()))])
    items = list(list_items([str(tmp_path)], Page))
    if items[0].failure is not None:  # cut so early that not even its frames can be counted
        assert "damaged" in items[0].failure.message
        return
    with pytest.raises(BadInput, match=r"cut off|damaged|missing"):
        load_items(items)


def test_a_truncated_jpeg_says_that_it_is_cut_off(tmp_path: Path) -> None:
    colours().resize((640, 320)).save(tmp_path / "scan.jpg")
    data = (tmp_path / "scan.jpg").read_bytes()
    (tmp_path / "scan.jpg").write_bytes(data[: len(data) // 2])
    with pytest.raises(BadInput, match=r"scan\.jpg: the picture is cut off"):
        load(tmp_path)
    with pytest.raises(BadInput, match="cut off"):
        load(tmp_path, give="encoded")


def test_a_damaged_png_is_not_shown_in_part(tmp_path: Path) -> None:
    noise = np.random.default_rng(7).integers(0, 255, (90, 120, 3), np.uint8)
    Image.fromarray(noise).save(tmp_path / "a.png")
    data = bytearray((tmp_path / "a.png").read_bytes())
    data[len(data) // 2] ^= 0xFF
    (tmp_path / "a.png").write_bytes(data)
    with pytest.raises(BadInput, match=r"damaged|cut off"):
        load(tmp_path)


def test_a_bomb_is_refused_from_its_header(tmp_path: Path) -> None:
    header = struct.pack(">IIBBBBB", 30_000, 30_000, 8, 2, 0, 0, 0)
    (tmp_path / "bomb.png").write_bytes(made_png(header, zlib.compress(b"\0" * 1000)))
    for settings in ({}, {"give": "encoded"}, {"render": "never"}):
        with pytest.raises(BadInput, match=r"bomb\.png: it is 30,000 x 30,000 pixels"):
            load(tmp_path, **settings)


def test_the_bound_on_pixels_can_be_set(tmp_path: Path) -> None:
    colours().save(tmp_path / "a.png")
    with pytest.raises(BadInput, match="and 1,000 are allowed"):
        load(tmp_path, max_pixels=1000)
    assert load(tmp_path, max_pixels=2048)[0].pixels is not None


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (tiff((0x7FFFFFFF, 0x7FFFFFFF)), "2,147,483,647 x 2,147,483,647 pixels"),
        (tiff((60_000, 60_000)), "60,000 x 60,000 pixels"),
        (tiff((9_000, 9_000)), "ends early|damaged"),  # allowed, and one byte long
    ],
)
def test_a_tiff_that_claims_too_much_fails_alone(tmp_path: Path, data: bytes, words: str) -> None:
    (tmp_path / "a.tif").write_bytes(data)
    with pytest.raises(BadInput, match=words):
        load_items([Page(id="a", uri=str(tmp_path / "a.tif"), document="a.tif", media="image")])


@pytest.mark.parametrize(("data", "pages"), [(tiff((1, 1), then=1), 1), (tiff((1, 1), (1, 1), then=1), 2)])
def test_a_tiff_whose_pages_go_in_a_circle_has_each_once(tmp_path: Path, data: bytes, pages: int) -> None:
    (tmp_path / "a.tif").write_bytes(data)
    assert len(load(tmp_path / "a.tif")) == pages


@pytest.mark.parametrize("side", [30_000, 100_000])
def test_an_avif_that_claims_too_much_is_no_heic(tmp_path: Path, side: int) -> None:
    if not features.check("avif"):
        pytest.skip("this Pillow was built without AVIF")
    colours().save(tmp_path / "a.avif")
    (tmp_path / "a.avif").write_bytes(claiming_avif((tmp_path / "a.avif").read_bytes(), side, side))
    with pytest.raises(BadInput) as raised:
        load(tmp_path / "a.avif")
    assert "HEIC" not in str(raised.value)
