"""Symmetric systems of three equations, many at once, written out: several times as fast as a general solver.

A system is its six numbers (00, 01, 02, 11, 12, 22), each an array over all systems.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

PLACES = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))


def squared(slopes: Array, precision: Array) -> Array:
    """The sums of products of slopes (row, side, system), with one `precision` (3, 3) added to each."""
    return np.stack(
        [(slopes[:, one] * slopes[:, two]).sum(axis=0) + precision[one, two] for one, two in PLACES]
    )


def solved(system: Array, right: Array) -> Array:
    """What times each system is its right side; both (3, systems)."""
    a, b, c, d, e, f = system
    one, two, three = d * f - e * e, c * e - b * f, b * e - c * d
    whole = a * one + b * two + c * three
    four, five, six = a * f - c * c, b * c - a * e, a * d - b * b
    x, y, z = right
    rows = (one * x + two * y + three * z, two * x + four * y + five * z, three * x + five * y + six * z)
    return np.asarray(np.stack(rows) / whole)


def roots(system: Array) -> Array:
    """The six numbers (00, 10, 20, 11, 21, 22) of each system's lower triangle, by Cholesky."""
    a, b, c, d, e, f = system
    first = np.sqrt(a)
    second, third = b / first, c / first
    fourth = np.sqrt(d - second**2)
    fifth = (e - third * second) / fourth
    return np.stack([first, second, third, fourth, fifth, np.sqrt(f - third**2 - fifth**2)])


def loosened(root: Array, loose: Array) -> Array:
    """Independent numbers (3, systems) as errors that have each system as their precision."""
    first, second, third, fourth, fifth, sixth = root
    z = loose[2] / sixth
    y = (loose[1] - fifth * z) / fourth
    return np.stack([(loose[0] - second * y - third * z) / first, y, z])
