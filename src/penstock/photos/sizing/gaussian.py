"""Normal distributions: the density of one, and precision matrices of three variables, many at once.

A symmetric matrix is its six entries (00, 01, 02, 11, 12, 22), each an array over all matrices. Written out,
solving and Cholesky are several times as fast as numpy's general ones.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

PLACES = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))


def gaussian_density(offset: Array, spread: float) -> Array:
    """Returns the density of a normal distribution at `offset` from its mean."""
    return np.asarray(np.exp(-0.5 * (offset / spread) ** 2) / (spread * np.sqrt(2 * np.pi)))


def precision_matrix(slopes: Array, precision: Array) -> Array:
    """Returns JᵀJ + P for Jacobians `slopes` (row, side, matrix) and the prior precision P (3, 3)."""
    return np.stack(
        [(slopes[:, one] * slopes[:, two]).sum(axis=0) + precision[one, two] for one, two in PLACES]
    )


def solve(system: Array, right: Array) -> Array:
    """Returns x of A x = b for each matrix A; x and b are (3, matrices)."""
    a, b, c, d, e, f = system
    one, two, three = d * f - e * e, c * e - b * f, b * e - c * d
    whole = a * one + b * two + c * three
    four, five, six = a * f - c * c, b * c - a * e, a * d - b * b
    x, y, z = right
    rows = (one * x + two * y + three * z, two * x + four * y + five * z, three * x + five * y + six * z)
    return np.asarray(np.stack(rows) / whole)


def cholesky(system: Array) -> Array:
    """Returns each matrix's Cholesky factor L, its entries (00, 10, 20, 11, 21, 22)."""
    a, b, c, d, e, f = system
    first = np.sqrt(a)
    second, third = b / first, c / first
    fourth = np.sqrt(d - second**2)
    fifth = (e - third * second) / fourth
    return np.stack([first, second, third, fourth, fifth, np.sqrt(f - third**2 - fifth**2)])


def correlate(factor: Array, normals: Array) -> Array:
    """Turns independent normals into errors with the given precision matrices: solves Lᵀ x = z."""
    first, second, third, fourth, fifth, sixth = factor
    z = normals[2] / sixth
    y = (normals[1] - fifth * z) / fourth
    return np.stack([(normals[0] - second * y - third * z) / first, y, z])
