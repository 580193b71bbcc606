"""A second network's letters in doubtful lines: where it is surer, and never where it cannot know."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from penstock.engines.ocr.hangul_network import UNKNOWN, HangulNetwork, Symbol
from penstock.engines.ocr.second_reader import agreed

KNOWN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.,:@#%()")


def said(text: str, *sures: float) -> list[Symbol]:
    """The symbols of a text, as sure as the numbers say, and wholly sure where there are no more."""
    letters = text.replace(" ", "")
    rest = (*sures, *[1.0] * (len(letters) - len(sures)))
    return [Symbol(letter, 0.0, 1.0, sure, False) for letter, sure in zip(letters, rest, strict=True)]


@pytest.mark.parametrize(
    ("first", "sures", "second", "together"),
    [
        ("RH 8.50", (1, 0.6, 1, 1, 1, 1), said("RM8.50"), "RM 8.50"),
        ("RH", (1, 0.99), said("RM", 1.0, 0.9), "RH"),  # the first is surer
        ("RH", (1, 0.3), said("RM", 1.0, 0.7), "RH"),  # the second is not sure
        ("Nett Teotal", (0.9,) * 10, said("NettTotal"), "Nett Teotal"),  # nothing is dropped
        ("GST Summary", (0.9,) * 10, said("GSTSumary"), "GST Summary"),
        ("arking", (0.9,) * 6, said("Parking"), "arking"),  # nor added
        ("café", (1, 1, 1, 0.6), said("cafe"), "café"),  # é is a sign that it was not taught
        ("5%", (0.6, 1), said(f"{UNKNOWN}%"), "5%"),
        ("o%", (0.6, 1), said("이%"), "o%"),  # Hangul has a way of its own
        ("RH", (), said("RM"), "RH"),  # marks were changed: which letter was how sure is not known
        ("", (), said("RM"), ""),
        ("RH", (1, 0.6), [], "RH"),
        (
            "Till RH",
            (1, 1, 1, 1, 1, 0.6),
            said("TlllRM", 1, 0.4, 0.5, 0.5),
            "Till RH",
        ),  # it reads the line badly
    ],
)
def test_letters_come_from_the_surer_reader(
    first: str, sures: tuple[float, ...], second: list[Symbol], together: str
) -> None:
    assert agreed(first, sures, second, KNOWN) == together


def test_the_network_in_the_package_reads_korean_latin_and_numbers() -> None:
    """Pillow's own font for Latin: the network was not taught with it."""
    network = HangulNetwork()
    picture = Image.new("RGB", (420, 40), "white")
    ImageDraw.Draw(picture).text((8, 6), "Total: RM 86.00 (GST 6%)", "black", ImageFont.load_default(24))
    symbols = network.read_line(np.asarray(picture))
    network.close()
    text = "".join(" " * symbol.spaced + symbol.text for symbol in symbols)
    assert text == "Total: RM 86.00 (GST 6%)"
    assert min(symbol.confidence for symbol in symbols) > 0.5
    assert {"A", "a", "0", "%", "("} <= network.known
    assert UNKNOWN not in network.known
