"""Gaussian clouds as files: the 17-property PLY all splat viewers read, and the 32-byte .splat.

PLY: binary little-endian, `property float` only (some viewers parse the type names), in the order
x y z nx ny nz f_dc_0..2 opacity scale_0..2 rot_0..3, 68 bytes a Gaussian. Opacity is a logit, scale a
natural logarithm, rotation w x y z, colour the zeroth spherical harmonic.
Written as one array; the usual loop over tuples takes 30 times as long (benchmarks/cpu/bench_objects.py).
"""

from __future__ import annotations

import io
import re

import numpy as np

from penstock.errors import BadInput
from penstock.photos.gaussians import Floats, Gaussians

NAMES = (
    "x", "y", "z", "nx", "ny", "nz", "f_dc_0", "f_dc_1", "f_dc_2", "opacity",
    "scale_0", "scale_1", "scale_2", "rot_0", "rot_1", "rot_2", "rot_3",
)  # fmt: skip
ROW_BYTES = 4 * len(NAMES)
SH_C0 = 0.28209479177387814  # the zeroth spherical harmonic: colour = 0.5 + SH_C0 * f_dc
MAX_HEADER = 65_536
MIN_SHARE = 1e-7  # of an opacity's distance to 0 and 1, and of a sigma: their logarithms must be finite
_TYPES = {
    "float": "<f4", "float32": "<f4", "double": "<f8", "float64": "<f8", "uchar": "u1", "uint8": "u1",
    "char": "i1", "int8": "i1", "short": "<i2", "int16": "<i2", "ushort": "<u2", "uint16": "<u2",
    "int": "<i4", "int32": "<i4", "uint": "<u4", "uint32": "<u4",
}  # fmt: skip


def write_ply(cloud: Gaussians) -> bytes:
    """The cloud as a PLY file's bytes."""
    lines = [f"property float {name}\n" for name in NAMES]
    header = f"ply\nformat binary_little_endian 1.0\nelement vertex {cloud.num}\n{''.join(lines)}end_header\n"
    return _filled(header.encode("ascii"), cloud)


def _filled(header: bytes, cloud: Gaussians) -> bytes:
    # BytesIO hands out the very bytes it was given: 54 MB are written once and never copied
    out = io.BytesIO(bytes(len(header) + cloud.num * ROW_BYTES))
    with out.getbuffer() as whole:
        whole[: len(header)] = header
        table = np.frombuffer(whole, "<f4", offset=len(header)).reshape(cloud.num, len(NAMES))
        table[:, 0:3] = cloud.position
        table[:, 6:9] = (cloud.colour - np.float32(0.5)) * np.float32(1 / SH_C0)
        opacity = np.clip(cloud.opacity, MIN_SHARE, 1 - MIN_SHARE, dtype=np.float32)
        table[:, 9] = np.log(opacity / (1 - opacity))
        table[:, 10:13] = np.log(np.maximum(cloud.sigma, np.float32(MIN_SHARE)))
        table[:, 13:17] = cloud.rotation  # normals stay zero: viewers want the columns only
        del table  # it holds the buffer
    return out.getvalue()


def read_ply(data: bytes) -> Gaussians:
    """The Gaussians of a PLY file. Raises BadInput for anything else, or when it is cut short."""
    count, row, start = _header(data)
    missing = [name for name in NAMES if name not in (row.names or ()) and name not in ("nx", "ny", "nz")]
    if missing:
        raise BadInput(f"the PLY has no property {missing[0]!r}: it is not a cloud of Gaussians.")
    if len(data) - start < count * row.itemsize:
        raise BadInput(f"the PLY is cut short: {count:,} Gaussians are promised.")
    table = np.frombuffer(data, row, count, start)
    rotation = _columns(table, "rot_0", "rot_1", "rot_2", "rot_3")
    # a wild logit is an opacity of 0 or 1, and measure() refuses what is not finite
    with np.errstate(all="ignore"):
        colour = _columns(table, "f_dc_0", "f_dc_1", "f_dc_2") * np.float32(SH_C0) + np.float32(0.5)
        length = np.linalg.norm(rotation, axis=1, keepdims=True)
        opacity = 1 / (1 + np.exp(-table["opacity"].astype(np.float32)))
        sigma = np.exp(_columns(table, "scale_0", "scale_1", "scale_2"))
    return Gaussians(
        _columns(table, "x", "y", "z"),
        sigma,
        opacity.astype(np.float32),
        colour,
        (rotation / np.where(length > 0, length, 1)).astype(np.float32),
    )


def write_splat(cloud: Gaussians) -> bytes:
    """The cloud as .splat: the largest and most opaque first, so that a viewer shows them while it loads."""
    row = np.dtype([("position", "<f4", 3), ("sigma", "<f4", 3), ("rgba", "u1", 4), ("rotation", "u1", 4)])
    order = np.argsort(-cloud.sigma.prod(axis=1) * cloud.opacity, kind="stable")
    table = np.empty(cloud.num, row)
    table["position"] = cloud.position[order]
    table["sigma"] = cloud.sigma[order]
    rgba = np.concatenate([cloud.colour[order], cloud.opacity[order, None]], axis=1)
    table["rgba"] = np.clip(np.rint(rgba * 255), 0, 255)
    table["rotation"] = np.clip(np.rint(cloud.rotation[order] * 128 + 128), 0, 255)
    return table.tobytes()


def _columns(table: np.ndarray[tuple[int], np.dtype[np.void]], *names: str) -> Floats:
    return np.stack([table[name] for name in names], axis=1).astype(np.float32)


def _header(data: bytes) -> tuple[int, np.dtype[np.void], int]:
    """Number of vertices, the layout of one, and where the first begins."""
    end = data.find(b"end_header\n", 0, MAX_HEADER)
    if not data.startswith(b"ply\n") or end < 0:
        raise BadInput("it is not a PLY file.")
    lines = data[:end].decode("ascii", "replace").splitlines()
    if "format binary_little_endian 1.0" not in lines:
        raise BadInput("only binary little-endian PLY files are read.", "Save it again as binary.")
    first = next((number for number, line in enumerate(lines) if line.startswith("element ")), 0)
    element = re.fullmatch(r"element vertex (\d{1,12})", lines[first])
    if element is None:
        raise BadInput("the PLY does not begin with its vertices.")
    fields: dict[str, str] = {}
    for line in lines[first + 1 :]:
        found = re.fullmatch(r"property (\w+) (\w+)", line)
        if found is None or found[1] not in _TYPES:
            break  # a list, or the next element: what follows is not the vertices'
        if found[2] in fields:
            raise BadInput(f"the PLY names the property {found[2]!r} twice.")
        fields[found[2]] = _TYPES[found[1]]
    return int(element[1]), np.dtype(list(fields.items())), end + len(b"end_header\n")
