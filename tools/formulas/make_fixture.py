"""Makes the very small weights of the package's tests: six signs, alone, in pairs, as fractions.

    export PYTHONPATH=../../src:../training
    python make_fixture.py --out fixture    # then zip its three files to tests/fixtures/formula_weights.zip

They are trained for some minutes on strokes drawn by OpenCV. They prove that the reader's way works from
pixels to LaTeX; they read no real formula. Seed 5.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import cv2
import export
import numpy as np
import torch
from model import FormulaNetwork, Sizes, written_loss
from numpy.typing import NDArray

from penstock.engines.formula.picture import prepared

SIGNS = {
    "+": [((0, 5), (10, 5)), ((5, 0), (5, 10))],
    "-": [((0, 5), (10, 5))],
    "=": [((0, 3), (10, 3)), ((0, 7), (10, 7))],
    "|": [((5, 0), (5, 10))],
    "/": [((2, 10), (8, 0))],
    r"\times": [((1, 1), (9, 9)), ((1, 9), (9, 1))],
}
TOKENS = ["<pad>", "<s>", "</s>", *SIGNS, r"\frac", "}{", "}"]
NUMBERS = {token: number for number, token in enumerate(TOKENS)}
SIZES = Sizes(
    (8, 16, 32), (1, 1, 1), heads=2, encoder_layers=1, decoder_layers=1, tokens=len(TOKENS), max_steps=24
)
BATCH = 24
PAPER = 250


def drawn(tokens: list[str]) -> NDArray[np.float32]:
    """Strokes of one, two or (as a fraction) two stacked signs, as the reader prepares them."""
    page = np.full((80, 80), PAPER, np.uint8)
    if tokens[0] == r"\frac":
        strokes(page, tokens[1], 22, 10)
        strokes(page, tokens[3], 22, 32)
        cv2.line(page, (18, 26), (36, 26), 0, 1)
    else:
        for at, token in enumerate(tokens):
            strokes(page, token, 20 + at * 20, 30)
    return prepared(page)[0]


def strokes(page: NDArray[np.uint8], sign: str, x: int, y: int) -> None:
    for (x0, y0), (x1, y1) in SIGNS[sign]:
        cv2.line(page, (x + x0, y + y0), (x + x1, y + y1), 0, 2)


def formula(kind: int, dice: np.random.Generator) -> list[str]:
    first, second = (str(sign) for sign in dice.choice(list(SIGNS), 2))
    return [[first], [first, second], [r"\frac", first, "}{", second, "}"]][kind]


def batch(dice: np.random.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    """Formulas of one kind; those whose picture has another size than the first one's stay out."""
    kind = int(dice.integers(3))
    pairs = [(tokens, drawn(tokens)) for tokens in (formula(kind, dice) for _ in range(BATCH))]
    pairs = [pair for pair in pairs if pair[1].shape == pairs[0][1].shape]
    numbers = np.zeros((len(pairs), 8), np.int64)
    for row, (tokens, _) in zip(numbers, pairs, strict=True):
        row[: len(tokens) + 2] = [1, *(NUMBERS[token] for token in tokens), 2]
    return torch.from_numpy(np.stack([picture for _, picture in pairs])), torch.from_numpy(numbers)


def trained(seconds: float) -> FormulaNetwork:
    torch.manual_seed(5)
    torch.set_num_threads(1)
    network, dice = FormulaNetwork(SIZES), np.random.default_rng(5)
    optimiser = torch.optim.AdamW(network.parameters(), lr=3e-3)
    until, right, steps = time.process_time() + seconds, 0, 0
    while time.process_time() < until and right < 40:
        pictures, numbers = batch(dice)
        odds = network(pictures, numbers[:, :-1]).odds
        loss = written_loss(odds, numbers[:, 1:], smoothing=0.0)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        wanted = numbers[:, 1:]
        steps += 1
        if steps % 100 == 0:
            print(f"step {steps} loss {float(loss.detach()):.4f} right {right}", flush=True)
        right = right + 1 if bool(((odds.argmax(-1) == wanted) | (wanted == 0)).all()) else 0
    print(f"loss {float(loss.detach()):.4f}, {right} batches without a fault")
    return network.eval()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=150, help="of CPU time, at most")
    options = parser.parse_args()
    print(export.export(trained(options.seconds), options.out))
    told = json.loads((options.out / "tokens.json").read_text())
    words = {r"\frac": r"\frac {", "}{": "} {"}
    told["written"] = ["", "", "", *(words.get(token, token) for token in TOKENS[3:])]
    (options.out / "tokens.json").write_text(json.dumps(told))


if __name__ == "__main__":
    main()
