"""Spoils clean formulas and lines as printers, scanners, cameras and JPEG do, by the dice given alone."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

Ink = NDArray[np.uint8]
Dice = np.random.Generator
MAX_RISE = 5.0  # pixels that an end of a turned formula may rise or fall


def turn(dice: Dice, width: float) -> NDArray[np.float32] | None:
    """A slight rotation and shear of a picture so many pixels wide, or none. Its ends stay in the margins."""
    if dice.random() > 0.35:
        return None
    most = MAX_RISE / max(1.0, width / 2)
    angle = np.clip(np.deg2rad(dice.normal(0, 0.5)), -most, most)
    shear = dice.normal(0, 0.015)
    rotation = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    made: NDArray[np.float32] = (rotation @ np.array([[1, shear], [0, 1]])).astype(np.float32)
    return made


def spoiled(ink: Ink, em: float, dice: Dice) -> Ink:
    """A grey picture of the ink on paper: 0 is black. `em` is its size in pixels."""
    if dice.random() < 0.08:
        return _on_paper(ink, dice)  # born digital, untouched
    for harm, share in ((_coarse, 0.15), (_weight, 0.5), (_blur, 0.55), (_broken, 0.08), (_binary, 0.1)):
        if dice.random() < share:
            ink = harm(ink, em, dice)
    grey = _on_paper(ink, dice)
    if dice.random() < 0.1:
        grey = _shade(grey, dice)
    if dice.random() < 0.45:
        grey = _noise(grey, dice)
    if dice.random() < 0.35:
        grey = _jpeg(grey, dice)
    return grey


def _coarse(ink: Ink, em: float, dice: Dice) -> Ink:
    """Made for a coarser device and enlarged again."""
    share = max(dice.uniform(0.5, 0.9), 11 / em)
    if share >= 1:
        return ink
    size = (max(1, int(ink.shape[1] * share)), max(1, int(ink.shape[0] * share)))
    small = cv2.resize(ink, size, interpolation=cv2.INTER_AREA)
    way = cv2.INTER_CUBIC if dice.random() < 0.5 else cv2.INTER_LINEAR
    made: Ink = cv2.resize(small, (ink.shape[1], ink.shape[0]), interpolation=way)
    return made


def _weight(ink: Ink, em: float, dice: Dice) -> Ink:
    """Heavier or lighter strokes."""
    if em > 30 and dice.random() < 0.3:
        kernel = np.ones((2, 2), np.uint8)
        made: Ink = cv2.dilate(ink, kernel) if dice.random() < 0.7 else cv2.erode(ink, kernel)
        return made
    power = np.exp(dice.normal(0, 0.35))
    table = (255 * (np.arange(256) / 255) ** power).astype(np.uint8)
    return table[ink]


def _blur(ink: Ink, em: float, dice: Dice) -> Ink:
    sigma = float(dice.uniform(0.2, 0.9) * max(0.6, em / 30))
    made: Ink = cv2.GaussianBlur(ink, (0, 0), sigma)
    return made


def _broken(ink: Ink, em: float, dice: Dice) -> Ink:
    """Toner that did not hold: small patches without ink."""
    grain = cv2.GaussianBlur(dice.random(ink.shape, dtype=np.float32), (0, 0), 1.0)
    return np.where(grain > np.quantile(grain, dice.uniform(0.93, 0.99)), 0, ink).astype(np.uint8)


def _binary(ink: Ink, em: float, dice: Dice) -> Ink:
    """Black or white, as fax machines and some scanners make it."""
    level = dice.uniform(80, 170)
    rough = ink + dice.normal(0, dice.uniform(0, 25), ink.shape)
    return np.where(rough > level, 255, 0).astype(np.uint8)


def _on_paper(ink: Ink, dice: Dice) -> Ink:
    clean = dice.random() < 0.5
    paper = 255.0 if clean else dice.uniform(150, 255)
    black = 0.0 if clean else dice.uniform(0, min(110, paper - 80))
    return (paper - ink * ((paper - black) / 255)).astype(np.uint8)


def _shade(grey: Ink, dice: Dice) -> Ink:
    """Light that falls from one side."""
    height, width = grey.shape
    across = np.linspace(-1, 1, width, dtype=np.float32) * dice.normal(0, 0.05)
    down = np.linspace(-1, 1, height, dtype=np.float32)[:, None] * dice.normal(0, 0.05)
    return np.clip(grey * (1 + across + down), 0, 255).astype(np.uint8)


def _noise(grey: Ink, dice: Dice) -> Ink:
    grain = dice.standard_normal(grey.shape, dtype=np.float32) * np.float32(dice.uniform(1, 13))
    made = grey + grain
    if dice.random() < 0.15:
        specks = dice.random(grey.shape, dtype=np.float32)
        made = np.where(specks < dice.uniform(0, 0.004), dice.uniform(0, 120), made)
    return np.clip(made, 0, 255).astype(np.uint8)


def _jpeg(grey: Ink, dice: Dice) -> Ink:
    _, content = cv2.imencode(".jpg", grey, [cv2.IMWRITE_JPEG_QUALITY, int(dice.integers(20, 95))])
    made: Ink = cv2.imdecode(content, cv2.IMREAD_GRAYSCALE)
    return made


def with_neighbours(ink: Ink, other: Ink, dice: Dice) -> Ink:
    """A sliver of another line at the upper or lower edge, as a box that was cut too large shows it."""
    high = int(dice.integers(1, max(2, min(6, ink.shape[0] // 6))))
    strip = other[-high:] if dice.random() < 0.5 else other[:high]
    width = min(strip.shape[1], ink.shape[1])
    at = int(dice.integers(0, ink.shape[1] - width + 1))
    made = ink.copy()
    rows = slice(0, len(strip)) if dice.random() < 0.5 else slice(ink.shape[0] - len(strip), None)
    made[rows, at : at + width] = np.maximum(made[rows, at : at + width], strip[:, :width])
    return made
