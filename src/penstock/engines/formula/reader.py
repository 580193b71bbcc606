"""Reads a picture of one formula with our own weights: LaTeX in a normal form, and how sure the network is.

The weights are a folder with `encoder.onnx`, `decoder.onnx` and `tokens.json`; `tools/formulas` makes them.
The encoder looks at the picture once. The decoder writes a token a step and is given back what it remembered.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from penstock.engines.formula.decoding import closes, repeats
from penstock.engines.formula.picture import prepared
from penstock.engines.weights.onnx import open_session
from penstock.errors import EngineError, OpenError, first_line

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Pixels = NDArray[np.uint8]
    Floats = NDArray[np.float32]

ENCODER, DECODER, TOKENS = "encoder.onnx", "decoder.onnx", "tokens.json"
MAX_STEPS = 512  # whatever the weights allow; a longer answer is no formula
LOOK_FOR_LOOPS_EVERY = 16  # steps


class FormulaReader:
    """The open network. `read_formula` may be called from many threads.

    reader = FormulaReader(Path("weights/formula"))
    latex, confidence = reader.read_formula(crop)
    """

    def __init__(self, folder: Path, threads: int = 1) -> None:
        tokens = _token_file(folder / TOKENS)
        self._written: list[str] = tokens["written"]
        self._start, self._end = int(tokens["start"]), int(tokens["end"])
        self._max_steps = min(MAX_STEPS, int(tokens["max_steps"]))
        self._past_shape = (int(tokens["layers"]), 1, int(tokens["heads"]), 0, int(tokens["head_width"]))
        self._encoder: Any = open_session(folder / ENCODER, threads)
        self._decoder: Any = open_session(folder / DECODER, threads)

    def read_formula(self, pixels: Pixels) -> tuple[str, float]:
        """Returns LaTeX and a confidence from 0 to 1; 0 when the answer has no end or does not parse.

        It cannot tell a picture without a formula: give it only what a layout calls one.
        """
        height, width = pixels.shape[:2]
        if height < 1 or width < 1:
            raise EngineError(f"A formula needs a picture, not one of {width} x {height} pixels.")
        try:
            tokens, odds, ended = self._decoded(prepared(pixels))
        except EngineError:
            raise
        except Exception as exc:  # onnxruntime's exceptions share no base but this
            raise EngineError(
                f"Reading a formula of {width} x {height} pixels failed: {first_line(exc)}"
            ) from exc
        words = " ".join(self._written[token] for token in tokens).split()
        sure = float(np.exp(np.mean(np.log(np.maximum(odds, 1e-9))))) if odds else 0.0
        return " ".join(words), sure if ended and closes(words) else 0.0

    def close(self) -> None:
        self._encoder = self._decoder = None

    def _decoded(self, picture: Floats) -> tuple[list[int], list[float], bool]:
        """Returns tokens, the odds of each, and whether the network said that the formula ends."""
        encoder, decoder = self._encoder, self._decoder
        if encoder is None or decoder is None:
            raise EngineError("The formula reader was closed and cannot read.")
        looked_keys, looked_values = encoder.run(None, {"picture": picture})
        keys = values = np.zeros(self._past_shape, np.float32)
        token, tokens, odds = self._start, list[int](), list[float]()
        for at in range(self._max_steps):
            given = {
                "token": np.array([[token]]),
                "at": np.array([at]),
                "past_keys": keys,
                "past_values": values,
            }
            logits, keys, values = decoder.run(
                None, {**given, "looked_keys": looked_keys, "looked_values": looked_values}
            )
            token, odd = _likeliest(logits[0])
            odds.append(odd)
            if token == self._end:
                return tokens, odds, True
            tokens.append(token)
            extra = repeats(tokens) if at % LOOK_FOR_LOOPS_EVERY == 0 else 0
            if extra:
                return tokens[:-extra], odds[: len(tokens) - extra], False
        return tokens, odds, False


def _likeliest(logits: Floats) -> tuple[int, float]:
    best = int(logits.argmax())
    return best, float(1.0 / np.exp(logits - logits[best]).sum())


def _token_file(file: Path) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as exc:
        advice = "Give the folder that tools/formulas/export.py wrote."
        raise OpenError(f"{file} cannot be read: {first_line(exc)}", advice) from exc
    return found
