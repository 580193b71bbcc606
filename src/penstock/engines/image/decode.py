"""Turns encoded pictures into RGB arrays, as a viewer shows them: PNG, JPEG, TIFF, WebP, BMP, GIF and others.

Turned as EXIF says, transparency on white, CMYK and 16-bit scaled and not clipped. OpenCV decodes
the plain cases, half again as fast as Pillow; everything with a twist goes to Pillow.
Sizes are checked in the header, before anything is decoded.
"""

from __future__ import annotations

import importlib
import importlib.util
import io
import struct
import warnings
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from PIL import Image, ImageOps, UnidentifiedImageError

from penstock.engines.image.codec import decode_rgb, encode_jpeg, encode_png
from penstock.errors import BadInput, install_advice

if TYPE_CHECKING:
    from penstock.box import Pixels

MAX_PIXELS = 89_478_485  # 256 MiB of RGB, Pillow's own alarm; an A3 scan at 600 dpi has 70 million
MAX_FRAMES = 1_000  # of a GIF or WebP: an animation, not a document
MULTI_FRAME = frozenset({"TIFF", "GIF", "WEBP"})  # Pillow's names
SANE_DPI = (50.0, 2400.0)  # scanners; outside it is a placeholder
AVIF_BRANDS = (b"avif", b"avis")  # Pillow reads them itself
TOO_LARGE_ADVICE = "Scale it down, or raise --max-pixels if you trust the file."
JPEG_QUALITY = 95
ORIENTATION = 0x0112  # EXIF tag

# what Pillow raises for bytes that are not what they claim, in all its plugins
BROKEN = (
    OSError, SyntaxError, ValueError, EOFError, struct.error, zlib.error, IndexError, KeyError,
    TypeError, OverflowError, AttributeError, MemoryError, UnidentifiedImageError,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Picture:
    """One decoded frame. `dpi` is 0 where the file names none, or one that no scanner has."""

    pixels: Pixels
    dpi: float


@dataclass(frozen=True, slots=True)
class Encoded:
    """One frame as PNG or JPEG, upright, opaque, 8 bits a channel."""

    data: bytes = field(repr=False)
    width: int
    height: int
    dpi: float


def trust_our_bound() -> None:
    """Lets `max_pixels` be the only bound in this process. Call it where a worker opens."""
    Image.MAX_IMAGE_PIXELS = None


@contextmanager
def _alarm(max_pixels: int) -> Iterator[None]:
    """Lets Pillow refuse to grow beyond the bound: a GIF's later frames may lie outside of its first."""
    before = Image.MAX_IMAGE_PIXELS
    Image.MAX_IMAGE_PIXELS = max(1, max_pixels // 2)  # it warns from here, and refuses from twice that
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            yield
    finally:
        Image.MAX_IMAGE_PIXELS = before


def decode(data: bytes, max_pixels: int = MAX_PIXELS) -> Picture:
    """The first frame of an encoded picture. Raises BadInput."""
    with PictureFile(io.BytesIO(data), max_pixels) as frames:
        if not is_plain(data, frames.image):
            return frames.picture(0)
        pixels = decode_rgb(data)
        if pixels is None:
            return frames.picture(0)
        return Picture(pixels, _dpi(frames.image))


def size(data: bytes, max_pixels: int = MAX_PIXELS) -> tuple[int, int, float]:
    """Width, height and dpi of the first frame, from the header."""
    with PictureFile(io.BytesIO(data), max_pixels) as frames:
        return frames.size(0)


def as_encoded(data: bytes, max_pixels: int = MAX_PIXELS) -> Encoded:
    """The same bytes where they are a plain PNG or JPEG, else the first frame as PNG.

    Does not decode plain bytes: damage inside is found when they are decoded.
    """
    with PictureFile(io.BytesIO(data), max_pixels) as frames:
        if is_plain(data, frames.image):
            return Encoded(data, *frames.image.size, dpi=_dpi(frames.image))
        picture = frames.picture(0)
    return as_png(picture)


def as_png(picture: Picture) -> Encoded:
    """The picture without loss: for scans and photos."""
    height, width = picture.pixels.shape[:2]
    return Encoded(encode_png(picture.pixels), width, height, picture.dpi)


def as_jpeg(picture: Picture) -> Encoded:
    """The picture as JPEG, every pixel with its own colour: shared colour smears small red and blue print."""
    height, width = picture.pixels.shape[:2]
    data = encode_jpeg(picture.pixels, JPEG_QUALITY, full_colour=True)
    return Encoded(data, width, height, picture.dpi)


def _opened(source: str | IO[bytes]) -> Image.Image:
    """The picture, by Pillow; phones' HEIC by the package pillow-heif, which reads nothing else."""
    try:
        return Image.open(source)
    except UnidentifiedImageError:
        head = _head(source)
        if head[4:8] != b"ftyp" or head[8:12] in AVIF_BRANDS:
            raise
    if not learn_heic():
        raise BadInput("it is HEIC, which needs the package pillow-heif.", install_advice("heic"))
    return Image.open(source)


def learn_heic() -> bool:
    """Lets Pillow open HEIC in this process. Returns False where pillow-heif is not installed."""
    if importlib.util.find_spec("pillow_heif") is None:
        return False
    importlib.import_module("pillow_heif").register_heif_opener()
    return True


def _head(source: str | IO[bytes]) -> bytes:
    if isinstance(source, str):
        with Path(source).open("rb") as file:
            return file.read(12)
    source.seek(0)
    head = source.read(12)
    source.seek(0)
    return head


class PictureFile:
    """An open picture file whose frames are decoded one by one. Close it, or use it in a `with`."""

    def __init__(self, source: str | IO[bytes], max_pixels: int = MAX_PIXELS) -> None:
        self._max_pixels = max_pixels
        self._source = source
        self._stumbled = False
        self._open()

    def _open(self) -> None:
        if not isinstance(self._source, str):
            self._source.seek(0)
        try:
            self.image = _opened(self._source)
        except Image.DecompressionBombError as exc:
            raise self._too_large() from exc
        except FileNotFoundError as exc:
            raise BadInput("the file is gone.") from exc
        except PermissionError as exc:
            raise BadInput("the file may not be read.", "Check its permissions.") from exc
        except MemoryError as exc:  # a WebP's canvas is made with its header
            raise _damage(exc) from exc
        except BROKEN as exc:
            raise BadInput("its header is damaged; it is not a picture anyone can read.") from exc
        try:
            self._check_size()
        except BadInput:
            self.close()
            raise

    def __enter__(self) -> PictureFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self.image.close()

    @property
    def num_frames(self) -> int:
        """Pages of a TIFF; frames of an animation, up to MAX_FRAMES; 1 for all others."""
        if self.image.format not in MULTI_FRAME:
            return 1  # phones hide a second picture in their JPEGs, browsers animate PNGs
        try:
            count = int(getattr(self.image, "n_frames", 1))
        except BROKEN as exc:
            raise BadInput("its list of pages is damaged.") from exc
        return count if self.image.format == "TIFF" else min(count, MAX_FRAMES)

    def size(self, index: int) -> tuple[int, int, float]:
        """Width, height and dpi of a frame, from its header."""
        self._seek(index)
        width, height = self.image.size
        dpi = _dpi(self.image)
        return (height, width, dpi) if self._is_turned() else (width, height, dpi)

    def picture(self, index: int) -> Picture:
        """The frame as an RGB array. Raises BadInput when it is cut off or damaged."""
        self._seek(index)
        try:
            with self._watched():
                self.image.load()
            dpi = _dpi(self.image)
            pixels = _to_rgb(ImageOps.exif_transpose(self.image))
        except BROKEN as exc:
            raise _damage(exc) from exc
        return Picture(pixels, dpi)

    def _seek(self, index: int) -> None:
        if self._stumbled:  # Pillow forgot where it was
            self.close()
            self._open()
            self._stumbled = False
        if index == 0 and self.image.tell() == 0:
            return
        try:
            with self._watched():
                self.image.seek(index)  # composes the frames before it
        except MemoryError as exc:
            raise _damage(exc) from exc
        except BROKEN as exc:
            raise BadInput(f"its page {index + 1} is missing or damaged.") from exc
        self._check_size()

    @contextmanager
    def _watched(self) -> Iterator[None]:
        """Bounds what Pillow makes while the block runs."""
        try:
            with _alarm(self._max_pixels):
                yield
        except Image.DecompressionBombError as exc:
            self._stumbled = True
            raise self._too_large() from exc
        except BaseException:
            self._stumbled = True
            raise

    def _too_large(self) -> BadInput:
        return BadInput(f"it is larger than {self._max_pixels:,} pixels.", TOO_LARGE_ADVICE)

    def _check_size(self) -> None:
        width, height = self.image.size
        if width < 1 or height < 1:
            raise BadInput(f"it has no area ({width} x {height} pixels).")
        if width * height > self._max_pixels:
            raise BadInput(
                f"it is {width:,} x {height:,} pixels, and {self._max_pixels:,} are allowed.",
                TOO_LARGE_ADVICE,
            )

    def _is_turned(self) -> bool:
        """Whether the picture lies on its side. Pillow gives a TIFF's size as it will be shown."""
        if self.image.format == "TIFF" or (self.image.format == "PNG" and "exif" not in self.image.info):
            return False  # asking a PNG for EXIF it does not have would decode the whole picture
        return self.image.getexif().get(ORIENTATION, 1) in (5, 6, 7, 8)


def _damage(exc: BaseException) -> BadInput:
    words = str(exc).lower()
    if "truncated" in words or "unexpected end" in words or isinstance(exc, EOFError):
        return BadInput("the picture is cut off: its data ends early.", "Copy or download it again.")
    if isinstance(exc, MemoryError):
        return BadInput("it needs more memory than there is.", TOO_LARGE_ADVICE)
    return BadInput(
        f"its picture data is damaged ({type(exc).__name__}: {exc}).", "Copy or download it again."
    )


def is_plain(data: bytes, image: Image.Image) -> bool:
    """Whether the bytes are a whole PNG or JPEG that shows itself the same in every viewer."""
    if image.format in ("JPEG", "MPO"):
        # a missing end is Pillow's to judge: OpenCV fills what is cut off with grey and says nothing
        whole = data.rstrip(b"\0\r\n ").endswith(b"\xff\xd9")
        return whole and image.mode in ("RGB", "L") and image.getexif().get(ORIENTATION, 1) in (0, 1)
    return image.format == "PNG" and _is_plain_png(data)


def _is_plain_png(data: bytes) -> bool:
    """8-bit grey or RGB without transparency or EXIF, every chunk whole by its checksum."""
    depth, colour = data[24], data[25]
    if depth != 8 or colour not in (0, 2):
        return False
    at, view = 8, memoryview(data)
    while at + 12 <= len(data):
        (length,) = struct.unpack_from(">I", data, at)
        kind, end = data[at + 4 : at + 8], at + 12 + length
        if kind in (b"tRNS", b"eXIf", b"acTL") or end > len(data):
            return False
        if zlib.crc32(view[at + 4 : end - 4]) != struct.unpack_from(">I", data, end - 4)[0]:
            return False
        if kind == b"IEND":
            return True
        at = end
    return False


def _dpi(image: Image.Image) -> float:
    try:
        dpi = float(image.info.get("dpi", (0, 0))[0])
    except (TypeError, ValueError, IndexError, ZeroDivisionError):
        return 0.0
    return dpi if SANE_DPI[0] <= dpi <= SANE_DPI[1] else 0.0


def _to_rgb(image: Image.Image) -> Pixels:
    """8-bit RGB with transparency on white."""
    if image.mode.startswith("I;16") or image.mode in ("I", "F"):
        return _from_deep_grey(image)
    if image.mode in ("RGBA", "LA", "PA", "RGBa", "La") or "transparency" in image.info:
        clear = image.convert("RGBA")
        white = Image.new("RGBA", clear.size, (255, 255, 255, 255))
        image = Image.alpha_composite(white, clear)
    if image.mode == "LAB":
        image = _from_lab(image)
    return np.array(image.convert("RGB"), np.uint8)


def _from_deep_grey(image: Image.Image) -> Pixels:
    """16-bit grey keeps its high byte; 32-bit and float, which have no fixed white, are stretched."""
    values: np.ndarray[Any, Any] = np.asarray(image)
    if image.mode.startswith("I;16") or (image.mode == "I" and _fits_16_bits(values)):
        grey = (values.astype(np.uint32) >> 8).astype(np.uint8)
    else:
        finite = np.nan_to_num(values.astype(np.float64), posinf=0.0, neginf=0.0)
        low, high = float(finite.min()), float(finite.max())
        grey = ((finite - low) * (255.0 / ((high - low) or 1.0))).astype(np.uint8)
    return np.repeat(grey[:, :, None], 3, axis=2)


def _fits_16_bits(values: np.ndarray[Any, Any]) -> bool:
    return bool(values.min() >= 0 and 255 < values.max() <= 65535)


def _from_lab(image: Image.Image) -> Image.Image:
    from PIL import ImageCms

    lab, srgb = ImageCms.createProfile("LAB"), ImageCms.createProfile("sRGB")
    turned = ImageCms.profileToProfile(image, lab, srgb, outputMode="RGB")
    assert turned is not None
    return turned
