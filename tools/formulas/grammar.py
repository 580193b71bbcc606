"""Makes LaTeX formulas near to those of papers, textbooks and exam papers.

Nothing is copied: a formula grows from shapes (`shapes.py`) of one theme (`themes.py`) over a few letters
that it keeps using. The same seed gives the same formulas.

    python grammar.py --count 1000 --seed 1 --fonts newcm stix2 > formulas.tsv

A line is a font, a tab, the normal form, a tab, the LaTeX to render.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator

from normal_form import BadFormula, normal_tokens
from shapes import Shapes
from vocabulary import NUMBERS, encode

MAX_STEPS = 320  # numbers of one label with its start and end; the decoder reads no further


def formulas(count: int, seed: int) -> Iterator[tuple[str, str]]:
    """Yields `count` different formulas as (normal form, LaTeX to render)."""
    dice = random.Random(seed)
    seen: set[str] = set()
    while len(seen) < count:
        label, source = one_formula(dice)
        if label and label not in seen:
            seen.add(label)
            yield label, source


def one_formula(dice: random.Random) -> tuple[str, str]:
    """Returns one formula, or two empty strings when it came out too long or, once in 40,000, broken."""
    source, number = Shapes(dice).formula()
    try:
        tokens = normal_tokens(source + number.label)
    except BadFormula:
        return "", ""
    known = all(token in NUMBERS for token in tokens)
    if not tokens or not known or len(encode(tokens)) > MAX_STEPS:
        return "", ""
    return " ".join(tokens), source + number.drawn


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--fonts", nargs="+", default=["newcm"], help="taken in turn; one may be named twice")
    options = parser.parse_args()
    for number, (label, source) in enumerate(formulas(options.count, options.seed)):
        sys.stdout.write(f"{options.fonts[number % len(options.fonts)]}\t{label}\t{source}\n")


if __name__ == "__main__":
    main()
