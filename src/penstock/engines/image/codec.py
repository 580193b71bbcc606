"""Writes RGB arrays as JPEG and PNG, and reads them back. OpenCV's order of channels (BGR) stays in here.

For pictures that we made, or whose bytes someone has checked: users' files go through decode.py, which
turns them as EXIF says, bounds their size and says what is wrong with them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import cv2
import numpy as np

from penstock.errors import BadInput

if TYPE_CHECKING:
    from penstock.box import Pixels


def encode_jpeg(pixels: Pixels, quality: int, *, full_colour: bool = False) -> bytes:
    """RGB, or grey of two dimensions, as JPEG. Raises BadInput for more pixels than the format holds.

    `full_colour` keeps the colour of every pixel; without it four neighbours share one.
    """
    options = [cv2.IMWRITE_JPEG_QUALITY, quality]
    if full_colour:
        options += [cv2.IMWRITE_JPEG_SAMPLING_FACTOR, cv2.IMWRITE_JPEG_SAMPLING_FACTOR_444]
    return _encoded(".jpg", pixels, options)


def encode_png(pixels: Pixels) -> bytes:
    """RGB, or grey of two dimensions, as PNG. Raises BadInput for more pixels than the format holds."""
    return _encoded(".png", pixels, [cv2.IMWRITE_PNG_COMPRESSION, 1])


def decode_rgb(data: bytes) -> Pixels | None:
    """The picture as RGB, or None if the bytes are no picture."""
    pixels = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR_RGB) if data else None
    return None if pixels is None else np.asarray(pixels, np.uint8)


def _encoded(suffix: str, pixels: Pixels, options: list[int]) -> bytes:
    picture = pixels if pixels.ndim == 2 else cv2.cvtColor(pixels, cv2.COLOR_RGB2BGR)
    done, data = cv2.imencode(suffix, picture, options)
    if not done:
        raise BadInput(f"its {pixels.shape[1]} x {pixels.shape[0]} pixels cannot be written as {suffix[1:]}.")
    return data.tobytes()
