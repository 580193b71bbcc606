"""Depth maps that came with a photo: .npy in metres, or 16-bit PNG in millimetres."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from penstock.errors import BadInput
from penstock.photos.gaussians import Floats

MIN_M, MAX_M = 0.1, 50.0


def read_depth(path: str, width: int, height: int) -> Floats:
    """Metres along the camera's axis for every pixel of a photo of this size. Raises BadInput."""
    import cv2

    depth, path = load_depth(path), Path(path).name
    if abs(depth.shape[1] / depth.shape[0] - width / height) > 0.02 * width / height:
        raise BadInput(
            f"The depth map {path} is {depth.shape[1]} x {depth.shape[0]}, its photo {width} x {height}."
        )
    scaled = cv2.resize(depth, (width, height), interpolation=cv2.INTER_NEAREST)
    sane = np.isfinite(scaled) & (scaled > MIN_M) & (scaled < MAX_M)
    if not sane.any():
        raise BadInput(f"The depth map {path} holds no distance between {MIN_M} and {MAX_M} m.")
    return np.where(sane, scaled, np.nan).astype(np.float32)


def open_depths() -> Callable[[str], Floats]:
    """For a process that can be killed: strangers send depth maps, too."""
    return load_depth


def load_depth(file: str) -> Floats:
    """Metres as the file has them. Raises BadInput."""
    import cv2

    path, name = Path(file), Path(file).name
    try:
        if path.suffix == ".npy":
            depth = np.load(path, allow_pickle=False)
        else:
            pixels = cv2.imdecode(np.frombuffer(path.read_bytes(), np.uint8), cv2.IMREAD_UNCHANGED)
            if pixels is None or pixels.dtype != np.uint16:
                raise BadInput(f"The depth map {name} is neither .npy nor 16-bit PNG.")
            depth = pixels.astype(np.float32) / 1000
    except OSError as exc:
        raise BadInput(f"The depth map {name} cannot be read: {exc.strerror or exc}.") from exc
    except (ValueError, MemoryError, cv2.error) as exc:  # NumPy's advice to unpickle is not ours
        raise BadInput(f"The depth map {name} cannot be read.") from exc
    if depth.ndim != 2 or not depth.size or depth.dtype.kind not in "fiu":
        raise BadInput(f"The depth map {name} has the shape {depth.shape}, not (height, width).")
    return np.asarray(depth, np.float32)
