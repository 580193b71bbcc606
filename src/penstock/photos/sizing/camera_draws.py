"""Cameras that may have taken a photo: drawn from what is known, then again near those that explain it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from penstock.photos.camera import LENS_SPREAD, Camera
from penstock.photos.edges import HEADINGS, PITCH_SPREAD, USUAL_PITCH
from penstock.photos.sizing.ceiling import ceiling_chances

Array = NDArray[np.float64]

PHONES, PHONE_SPREAD = 0.5, 0.1  # without EXIF half is a phone's main camera, the rest is any lens
WIDER, ANYWHERE = 2.0, 0.2  # of cameras drawn again: wider than those that fit, and a few from anywhere
FALSE_EDGES = 0.15  # of photos whose edges that look upright are not


@dataclass(frozen=True, slots=True, eq=False)
class CameraDraws:
    """Cameras that may have taken a photo, and the logarithm of what each counts before anything is seen."""

    above: Array
    pitch: Array
    focal: Array
    log_weight: Array
    heading: Array | None = None  # how the room's walls lie before each, where edges tell

    @property
    def values(self) -> Array:
        return np.stack([np.log(self.above), self.pitch, np.log(self.focal)], axis=1)


def draw_cameras(camera: Camera, num: int, random: np.random.Generator) -> CameraDraws:
    """Cameras as they are before any thing is seen: lens, height, tilt, and the room's edges."""
    above = np.log(camera.above_floor) + random.normal(scale=camera.above_floor_spread, size=num)
    spread = np.full(num, camera.focal_spread)
    if not camera.focal_known:
        spread = np.where(random.random(num) < PHONES, PHONE_SPREAD, LENS_SPREAD)
    focal = np.log(camera.focal) + random.normal(size=num) * spread
    pitch = _pitch_at(camera, focal) + random.normal(scale=camera.pitch_spread, size=num)
    if camera.pitch_by_edges:
        usual = random.normal(USUAL_PITCH, PITCH_SPREAD, num)
        pitch = np.where(random.random(num) < FALSE_EDGES, usual, pitch)
    return _with_heading(camera, np.stack([above, pitch, focal], axis=1), np.zeros(num), random)


def draw_again(
    camera: Camera, first: CameraDraws, weight: Array, num: int, random: np.random.Generator
) -> CameraDraws:
    """Cameras near those of `first` that count, and a few from anywhere; weighed so that none is favoured."""
    values = first.values
    mean = weight @ values
    around = (values - mean).T @ ((values - mean) * weight[:, None])
    around = WIDER * around + np.diag(np.array([0.02, np.deg2rad(0.4), 0.008]) ** 2)
    anywhere = draw_cameras(camera, round(num * ANYWHERE), random).values
    near = random.multivariate_normal(mean, around, num - len(anywhere))
    drawn = np.concatenate([near, anywhere])
    off = drawn - mean
    spread = np.linalg.slogdet(2 * np.pi * around)[1]
    log_near = -0.5 * (np.einsum("ij,jk,ik->i", off, np.linalg.inv(around), off) + spread)
    before = _log_before(camera, drawn)
    proposed = np.logaddexp(np.log(1 - ANYWHERE) + log_near, np.log(ANYWHERE) + before)
    return _with_heading(camera, drawn, before - proposed, random)


def _with_heading(
    camera: Camera, values: Array, log_weight: Array, random: np.random.Generator
) -> CameraDraws:
    """The cameras with what edges and the ceiling say of them, each with a way the walls may lie."""
    above, pitch, focal = np.exp(values[:, 0]), values[:, 1], np.exp(values[:, 2])
    if camera.edges is None or not len(camera.edges.lying):
        return CameraDraws(above, pitch, focal, log_weight)
    chances = camera.edges.lying_chances(focal, pitch)
    most = chances.max(axis=1, keepdims=True)
    shares = np.cumsum(np.exp(chances - most), axis=1)
    log_chance = most[:, 0] + np.log(shares[:, -1] / len(HEADINGS))
    drawn = (random.random(len(focal)) * shares[:, -1])[:, None] > shares
    heading = HEADINGS[drawn.sum(axis=1)]
    if camera.walls is not None:
        log_chance = log_chance + ceiling_chances(camera.walls, above, pitch, focal, heading)
    return CameraDraws(above, pitch, focal, log_weight + log_chance, heading)


def _log_before(camera: Camera, values: Array) -> Array:
    """The logarithm of how likely each camera is before anything is seen."""
    above, pitch, focal = values.T
    logs = _log_normal(above - np.log(camera.above_floor), camera.above_floor_spread)
    tilt = _log_normal(pitch - _pitch_at(camera, focal), camera.pitch_spread)
    if camera.pitch_by_edges:
        usual = _log_normal(pitch - USUAL_PITCH, PITCH_SPREAD)
        tilt = np.logaddexp(np.log(1 - FALSE_EDGES) + tilt, np.log(FALSE_EDGES) + usual)
    logs = logs + tilt
    off = focal - np.log(camera.focal)
    if camera.focal_known:
        return np.asarray(logs + _log_normal(off, camera.focal_spread))
    phone, lens = _log_normal(off, PHONE_SPREAD), _log_normal(off, LENS_SPREAD)
    return np.asarray(logs + np.logaddexp(np.log(PHONES) + phone, np.log(1 - PHONES) + lens))


def _log_normal(off: Array, spread: float) -> Array:
    return np.asarray(-0.5 * (off / spread) ** 2 - np.log(spread * np.sqrt(2 * np.pi)))


def _pitch_at(camera: Camera, log_focal: Array) -> Array:
    """The tilt if the lens is of this length: upright edges meet in a point that tells tilt by length."""
    if not camera.pitch_by_edges:
        return np.full(len(log_focal), camera.pitch)
    return np.asarray(np.arctan(np.tan(camera.pitch) * np.exp(log_focal) / camera.focal))
