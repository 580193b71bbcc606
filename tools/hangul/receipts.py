"""Lines of till receipts: what shops print, and how a dot matrix and a worn thermal head print it.

The words are ours, of what receipts everywhere have, and those of the English sources; none is of a data set.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

Grey = NDArray[np.uint8]
Dice = np.random.Generator

# Choices by "|". {name} stands for one of its choices, {word} for an English word, # for a digit, & for a
# letter or a digit.
GRAMMAR = {
    "line": "{item}|{item}|{item}|{sum}|{sum}|{sum}|{labelled}|{labelled}|{firm}|{address}|{when}|{code}|"
    "{polite}|{rule}",
    "item": "{name}|{name} {price}|{many}{name}|{many}{name} {price}{mark}|{name} {size} {price}|"
    "{code} {name}",
    "name": "{word}|{word} {word}|{word} {word}|{word} {word} {word}|{word}/{word}|{word} &#",
    "many": "# |# x |# X |#|## @ |# PCS ",
    "size": "###ML|#KG|#.#L|###G|##PCS|##X#MM|#S|(#)",
    "mark": "||||*| S| SR| Z| ZR| T",
    "sum": "{total} {price}|{total}: {price}|{total} {money}{price}|{total} {money} {price}|{total} ({money}) {price}|"
    "{total} {rate} {money} {price}|{total} : {money}{price}|{money}{price}|{money} {price}",
    "total": "total|subtotal|sub total|grand total|net total|amount due|amount|balance|cash|change|card|visa|debit|"
    "mastercard|credit card|rounding|rounding adj|discount|tax|vat|gst|sales tax|service charge|tendered|paid|"
    "deposit|refund|total sales|total qty|summary|points",
    "rate": "6%|10%|7.5%|0%|19.0 %|(6%)|@ 6%|20.00%|## %",
    "money": "RM|USD|EUR|GBP|SGD|KRW|JPY|CHF|THB|$|€|£|¥|₩|Rp|S$",
    "price": "#.##|#.##|##.##|##.##|###.##|#,###.##|####.##|-#.##|0.00|0.##",
    "labelled": "{label}: {code}|{label} : {code}|{label}:{code}|{label} {code}|{label} #{code}|{label} {label}",
    "label": "invoice no|invoice|receipt|receipt no|tax invoice|bill no|order no|table|cashier|counter|terminal|store|"
    "trans no|staff|member|tel|fax|company no|reg no|gst id|gst no|vat no|branch|pump|approval code|batch|qty|item|"
    "items|description|unit price|price|disc|inclusive|exclusive|copy|void|litre",
    "code": "####|######|########|##########|&&&&&&|&&&-####|##-########|&&######|####-&|#######&|&&&&&&&&&&|####/##",
    "firm": "{word} {word} {company}|{word} {company}|{word} {word} {word} {company}|{company} {word} (######-&)",
    "company": "ltd|inc|sdn bhd|pte ltd|gmbh|co.|llc|enterprise|trading|restaurant|stores|market|cafe|company",
    "address": "{street} #, {word} {word}|{street} ##-#, {word}|{street} {word} ##/#|##### {word}|##### {word} {word},|"
    "{street} ###, {street} {word}, #####",
    "street": "lot|no.|no|jalan|street|road|avenue|lane|plaza|mall|floor|block|unit|square|ground floor",
    "when": "{date}|{date} {time}|date: {date}|date {date} time {time}|date/time: {date} {time}|{time}",
    "date": "0#/0#/20##|1#-1#-##|20##-1#-2#|2# {month} 20##|2#.0#.20##|0#/1#/##",
    "month": "Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec",
    "time": "1#:2#|0#:4#:1#|#:3# PM|1#:5# am|1#:0#:5#PM",
    "polite": "thank you|please come again|have a nice day|goods sold are not refundable|customer copy|welcome|"
    "keep this receipt|exchange within # days|opening hours #:00 - ##:00|for feedback, email to|visit us at "
    "www.{word}.com|{word}@{word}.com|{word} {word} {word}.",
    "rule": "--- {polite} ---|=== {label} ===|** {label} **|*** {polite} ***|<<< {label} >>>",
}
CHOICES = {name: told.split("|") for name, told in GRAMMAR.items()}
SLOT = re.compile(r"\{(\w+)\}")
SIGNS = "ABCDEFGHJKLMNPRSTUVWXYZ0123456789"


def receipt_text(english: Sequence[str], dice: Dice) -> str:
    """One line of a receipt."""

    def filled(found: re.Match[str]) -> str:
        if found[1] == "word":
            return _word(english, dice)
        return SLOT.sub(filled, _one(CHOICES[found[1]], dice))

    made = SLOT.sub(filled, "{line}")
    made = re.sub("#", lambda _: str(dice.integers(10)), made)
    made = re.sub("&", lambda _: _one(SIGNS, dice), made)
    way = dice.random()
    return made.upper() if way < 0.5 else made.title() if way < 0.75 else made


def _one(choices: Sequence[str], dice: Dice) -> str:
    return choices[int(dice.integers(len(choices)))]


def _word(english: Sequence[str], dice: Dice) -> str:
    words = [word for word in _one(english, dice).split() if word.isascii() and word.isalnum()]
    return _one(words, dice) if words else "item"


def dotted(ink: Grey, em: float, dice: Dice) -> Grey:
    """The ink as the needles of a printer make it: a coarse grid, a dot for each of its inked cells."""
    rows = float(dice.uniform(9, 15))  # cells of an em
    pitch = em / rows
    size = (max(1, round(ink.shape[1] / pitch)), max(1, round(ink.shape[0] / pitch)))
    cells = cv2.resize(ink, size, interpolation=cv2.INTER_AREA) > dice.uniform(70, 130)
    if dice.random() < 0.3:  # worn needles leave some out
        cells &= dice.random(cells.shape) > dice.uniform(0.0, 0.12)
    fine = 4  # times the grid, so that dots are round
    dot = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (int(dice.integers(3, 6)),) * 2)
    points = np.zeros((cells.shape[0] * fine, cells.shape[1] * fine), np.uint8)
    points[fine // 2 :: fine, fine // 2 :: fine] = np.where(cells, 255, 0)
    drawn = cv2.dilate(points, dot)
    return np.asarray(cv2.resize(drawn, (ink.shape[1], ink.shape[0]), interpolation=cv2.INTER_AREA), np.uint8)


def banded(ink: Grey, dice: Dice) -> Grey:
    """A thermal head with dead spots: rows, or a slow wave along the line, without ink."""
    made = ink.copy()
    if dice.random() < 0.5:
        for _ in range(int(dice.integers(1, 3))):
            made[int(dice.integers(len(made)))] //= int(dice.integers(2, 6))
        return made
    wave = 0.5 + 0.5 * np.sin(np.linspace(0, dice.uniform(2, 12), ink.shape[1]) + dice.uniform(0, 6))
    return (made * (1 - dice.uniform(0.2, 0.7) * wave)).astype(np.uint8)
