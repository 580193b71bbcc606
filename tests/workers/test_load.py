"""Pictures come out as a viewer shows them, and broken ones say why."""

from __future__ import annotations

import importlib
import importlib.util
import io
import pickle
import struct
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, features

from penstock.errors import BadInput, PlanError
from penstock.page import Page
from penstock.photo import Photo
from penstock.sources import list_items
from penstock.stages.load import Load
from tests.support.loaded import colours, load, load_items, png16, shown


@pytest.mark.parametrize("name", ["a.png", "a.jpg", "a.tif", "a.webp", "a.bmp", "a.gif"])
def test_every_format_shows_its_colours(tmp_path: Path, name: str) -> None:
    colours().save(tmp_path / name)
    pixels = shown(tmp_path / name).astype(int)
    assert pixels.shape == (32, 64, 3)
    for (y, x), colour in {(4, 8): (255, 0, 0), (4, 56): (0, 255, 0), (28, 8): (0, 0, 255)}.items():
        assert np.abs(pixels[y, x] - colour).max() <= 8


@pytest.mark.parametrize("ending", ["jp2", "j2k"])
def test_a_jpeg_2000_is_read_and_a_damaged_one_says_so(tmp_path: Path, ending: str) -> None:
    if not features.check("jpg_2000"):
        pytest.skip("this Pillow was built without JPEG 2000")
    path = tmp_path / f"a.{ending}"
    colours().save(path, "JPEG2000", no_jp2=ending == "j2k")
    assert np.abs(shown(path).astype(int)[4, 56] - (0, 255, 0)).max() <= 12
    path.write_bytes(path.read_bytes()[:60])
    with pytest.raises(BadInput):
        load(path)


def test_a_jpeg_2000_that_claims_too_many_pixels_is_refused_by_its_head(tmp_path: Path) -> None:
    if not features.check("jpg_2000"):
        pytest.skip("this Pillow was built without JPEG 2000")
    path = tmp_path / "a.j2k"
    colours().save(path, "JPEG2000", no_jp2=True)
    data = bytearray(path.read_bytes())
    data[8:16] = struct.pack(">II", 60_000, 60_000)
    path.write_bytes(data)
    with pytest.raises(BadInput, match="pixels"):
        load(path)


def test_an_avif_is_read(tmp_path: Path) -> None:
    if not features.check("avif"):
        pytest.skip("this Pillow was built without AVIF")
    colours().resize((256, 128), Image.Resampling.NEAREST).save(tmp_path / "a.avif", quality=95)
    pixels = shown(tmp_path / "a.avif").astype(int)
    assert pixels.shape == (128, 256, 3)
    assert np.abs(pixels[16, 32] - (255, 0, 0)).max() <= 12


def test_a_phones_heic_is_read_or_says_what_it_needs(tmp_path: Path) -> None:
    path = tmp_path / "IMG_0001.HEIC"
    if importlib.util.find_spec("pillow_heif") is None:
        path.write_bytes(b"\0\0\0\x18ftypheic\0\0\0\0mif1heic" + bytes(2000))
        [page] = list_items([str(path)], Page)
        assert page.failure is None  # what it needs is told where it is read
        with pytest.raises(BadInput, match="pillow-heif") as told:
            load_items([page])
        assert "penstock-pipeline[heic]" in told.value.advice
        return
    pillow_heif = importlib.import_module("pillow_heif")
    pillow_heif.from_pillow(colours().resize((256, 128), Image.Resampling.NEAREST)).save(path, quality=95)
    assert np.abs(shown(path).astype(int)[16, 32] - (255, 0, 0)).max() <= 12


def test_a_phones_folder_of_heic_loses_no_photo(tmp_path: Path) -> None:
    """However their endings are written; without pillow-heif each says what it needs, and a JPEG is read."""
    heic = b"\0\0\0\x18ftypheic\0\0\0\0mif1heic" + bytes(2000)
    for name in ("IMG_0001.HEIC", "IMG_0002.heic", "IMG_0003.heif"):
        (tmp_path / name).write_bytes(heic)
    (tmp_path / "IMG_0003.MOV").write_bytes(b"a Live Photo's film")
    colours().save(tmp_path / "IMG_0004.JPG", "JPEG")
    items = list(list_items([str(tmp_path)], Photo))
    names = ["IMG_0001.HEIC", "IMG_0002.heic", "IMG_0003.heif", "IMG_0004.JPG"]
    assert [item.document for item in items] == names
    for item in items[:3]:
        with pytest.raises(BadInput):  # these have no pixels, with the package or without it
            load_items([item])
    [photo] = load_items(items[3:])
    assert photo.pixels is not None and photo.pixels.shape == (32, 64, 3)


@pytest.mark.parametrize("suffix", ["jpg", "png", "tif", "webp"])
def test_exif_orientation_is_applied(tmp_path: Path, suffix: str) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # the camera was turned: show it a quarter turn clockwise
    colours().save(tmp_path / f"a.{suffix}", exif=exif)
    pixels = shown(tmp_path / f"a.{suffix}").astype(int)
    assert pixels.shape == (64, 32, 3)
    assert np.abs(pixels[8, 24] - (255, 0, 0)).max() <= 8  # red went to the top right
    (unrendered,) = load(tmp_path / f"a.{suffix}", render="never")
    assert (unrendered.width, unrendered.height) == (32, 64)


def test_transparency_lies_on_white(tmp_path: Path) -> None:
    clear = Image.new("RGBA", (4, 4), (200, 0, 0, 0))
    clear.putpixel((0, 0), (0, 0, 0, 255))
    clear.putpixel((1, 0), (0, 0, 0, 128))
    clear.save(tmp_path / "rgba.png")
    clear.convert("LA").save(tmp_path / "la.png")
    clear.save(tmp_path / "a.webp", lossless=True)
    for name in ("rgba.png", "la.png", "a.webp"):
        pixels = shown(tmp_path / name)
        assert pixels[3, 3].tolist() == [255] * 3 and pixels[0, 0].tolist() == [0] * 3
        assert 120 <= pixels[0, 1, 0] <= 135


def test_palette_and_colour_key_transparency_lie_on_white(tmp_path: Path) -> None:
    palette = Image.new("P", (2, 1))
    palette.putpalette([255, 0, 0, 0, 0, 255])
    palette.putpixel((1, 0), 1)
    palette.save(tmp_path / "p.png", transparency=0)
    palette.save(tmp_path / "p.gif", transparency=0)
    Image.fromarray(np.array([[[1, 2, 3], [0, 0, 255]]], np.uint8)).save(
        tmp_path / "key.png", transparency=(1, 2, 3)
    )
    for name in ("p.png", "p.gif", "key.png"):
        assert shown(tmp_path / name)[0].tolist() == [[255, 255, 255], [0, 0, 255]]


def test_cmyk_is_not_inverted(tmp_path: Path) -> None:
    ink = Image.new("CMYK", (16, 16), (0, 255, 255, 0))  # magenta and yellow make red
    ink.save(tmp_path / "a.jpg", quality=95)
    ink.save(tmp_path / "a.tif")
    for name in ("a.jpg", "a.tif"):
        red, green, blue = shown(tmp_path / name)[8, 8].astype(int)
        assert red > 240 and green < 20 and blue < 20


def test_sixteen_bits_are_scaled_and_not_clipped(tmp_path: Path) -> None:
    ramp = np.array([[0, 0x4000, 0x8000, 0xFFFF]], np.uint16)
    Image.fromarray(ramp).save(tmp_path / "grey.png")
    Image.fromarray(ramp).save(tmp_path / "grey.tif")
    (tmp_path / "rgb.png").write_bytes(png16(np.repeat(ramp[:, :, None], 3, axis=2)))
    for name in ("grey.png", "grey.tif", "rgb.png"):
        assert shown(tmp_path / name)[0, :, 0].tolist() == [0, 0x40, 0x80, 0xFF]


def one_bit_tiff(photometric: int, row: bytes) -> bytes:
    """32 x 1 pixels, not compressed. Photometric 0: a set bit is black; 1: it is white."""
    tags = {256: 32, 257: 1, 258: 1, 259: 1, 262: photometric, 273: 8, 278: 1, 279: len(row)}
    entries = b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in tags.items())
    directory = struct.pack("<H", len(tags)) + entries + struct.pack("<I", 0)
    return b"II*\0" + struct.pack("<I", 8 + len(row)) + row + directory


def test_one_bit_tiffs_are_right_whichever_bit_is_white(tmp_path: Path) -> None:
    (tmp_path / "white-is-0.tif").write_bytes(one_bit_tiff(0, b"\x80\0\0\0"))
    (tmp_path / "white-is-1.tif").write_bytes(one_bit_tiff(1, b"\x7f\xff\xff\xff"))
    fax = Image.new("1", (32, 1), 1)
    fax.putpixel((0, 0), 0)
    fax.save(tmp_path / "fax.tif", compression="group4")
    for name in ("white-is-0.tif", "white-is-1.tif", "fax.tif"):
        assert shown(tmp_path / name)[0, :, 1].tolist() == [0] + [255] * 31


def test_frames_of_a_tiff_keep_their_own_sizes(tmp_path: Path) -> None:
    frames = [Image.new("RGB", (10 * n, 5 * n), (n * 50, 0, 0)) for n in (1, 2, 3)]
    frames[0].save(tmp_path / "a.tif", save_all=True, append_images=frames[1:])
    items = load(tmp_path / "a.tif")
    assert [(item.width, item.height) for item in items] == [(10, 5), (20, 10), (30, 15)]
    assert [int(item.pixels[0, 0, 0]) for item in items if item.pixels is not None] == [50, 100, 150]


def test_frames_can_be_read_in_any_order(tmp_path: Path) -> None:
    frames = [Image.new("L", (6, 6), 60 * n) for n in range(4)]
    frames[0].save(tmp_path / "a.gif", save_all=True, append_images=frames[1:])
    items = list(list_items([str(tmp_path)], Page))
    loaded = load_items([items[3], items[0], items[2]])
    assert [int(item.pixels[0, 0, 0]) for item in loaded if item.pixels is not None] == [180, 0, 120]


def test_a_picture_of_one_pixel_passes(tmp_path: Path) -> None:
    Image.new("L", (1, 1), 7).save(tmp_path / "dot.png")
    assert shown(tmp_path / "dot.png").tolist() == [[[7, 7, 7]]]


def test_dpi_is_kept_where_it_is_sane(tmp_path: Path) -> None:
    colours().save(tmp_path / "a.png", dpi=(300, 300))
    colours().save(tmp_path / "b.jpg", dpi=(1, 1))
    colours().save(tmp_path / "c.bmp", dpi=(200, 200))
    assert [round(item.dpi) for item in load(tmp_path)] == [300, 0, 200]


@pytest.mark.parametrize("name", ["a.png", "a.jpg", "grey.png"])
def test_plain_bytes_pass_untouched(tmp_path: Path, name: str) -> None:
    picture = colours().convert("L") if name == "grey.png" else colours()
    picture.save(tmp_path / name)
    (item,) = load(tmp_path, give="encoded")
    assert item.image == (tmp_path / name).read_bytes() and item.pixels is None
    assert (item.width, item.height) == (64, 32)


def test_bytes_with_a_twist_are_made_anew(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 3
    colours().save(tmp_path / "turned.jpg", exif=exif)
    colours().convert("CMYK").save(tmp_path / "cmyk.jpg")
    colours().convert("RGBA").save(tmp_path / "alpha.png")
    colours().save(tmp_path / "a.webp", lossless=True)
    (tmp_path / "deep.png").write_bytes(png16(np.zeros((32, 64, 3), np.uint16)))
    for item in load(tmp_path, give="encoded"):
        assert item.image is not None
        plain = Image.open(io.BytesIO(item.image))
        assert plain.format == "PNG" and plain.mode in ("RGB", "L") and plain.size == (64, 32)


def test_a_password_is_neither_shown_nor_in_the_fingerprint() -> None:
    spec = Load(password="sesame", dpi=144)
    assert "sesame" not in repr(spec) and "password" not in spec.settings()
    assert spec.settings()["dpi"] == 144
    assert pickle.loads(pickle.dumps(spec)) == spec


def test_what_load_writes_depends_on_its_settings() -> None:
    assert "pixels" in Load().writes and "image" not in Load().writes
    assert "image" in Load(give="encoded").writes and "pixels" not in Load(give="encoded").writes
    assert "pixels" not in Load(render="never").writes and "layer" in Load(render="never").writes
    with pytest.raises(PlanError):
        Load(dpi=0)
