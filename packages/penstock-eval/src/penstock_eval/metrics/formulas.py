"""CDM: whether two formulas look the same (Wang et al. 2024; the constants are OmniDocBench v1.6's).

Renders both with every token in its own colour, matches tokens by name, place and order, and drops matches
that no common shift and scale explains. The score is F1 of the matched tokens. Needs TeX:
`formula_render.tex` says what to install.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from penstock.errors import BadInput, DeadlinePassed
from penstock_eval.metrics.formula_render import RenderedFormula, render
from penstock_eval.metrics.formula_tokens import coloured_formula

PLACE_WEIGHT = 0.05
ORDER_WEIGHT = 0.15
ALIKE = 0.005  # cost of two names for one sign
ROUNDS = 5
TRIALS = 500
SAMPLE = 3  # matches that fix a shift and a scale
RESIDUAL_PX = 30.0
SEED = 2026

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

_SAME_SIGN = {
    "\\dot": ".", "\\cdot": ".", "\\cdotp": ".", "\\ldotp": ".", "\\mid": "|",
    "\\rightarrow": "\\to", "\\top": "T",
    "\\Tilde": "\\tilde", "\\prime": "'", "\\ast": "*", "\\left<": "\\langle", "\\right>": "\\rangle",
    "\\lbrace": "\\{", "\\rbrace": "\\}", "\\lbrack": "[", "\\rbrack": "]", "\\slash": "/", "\\leq": "\\le",
    "\\geq": "\\ge", "\\neq": "\\not=", "\\ne": "\\not=", "\\Vert": "\\|", "\\lVert": "\\|", "\\rVert": "\\|",
    "\\parallel": "\\|", "\\vert": "|", "\\lvert": "|", "\\rvert": "|", "\\colon": ":", "\\Bar": "\\bar",
    "\\Vec": "\\vec", "\\dag": "\\dagger", "\\ddag": "\\ddagger", "\\textgreater": ">", "\\textless": "<",
    "\\neg": "\\lnot",
}  # fmt: skip
_SIZED = re.compile(r"^\\(?:left|right|[Bb]igg?[lrm]?)(?=\\|[^a-zA-Z])")


@dataclass(frozen=True, slots=True)
class CdmScore:
    """F1, recall and precision over tokens, to 3 digits. `note` says why a pair could not be compared."""

    f1: float
    recall: float
    precision: float
    matched: int = 0
    true_tokens: int = 0
    predicted_tokens: int = 0
    note: str = ""


def cdm(truth: str, predicted: str, *, smooth: bool = True) -> CdmScore:
    """Returns the CDM of two LaTeX formulas. Raises MissingModel without TeX.

    A pair of which TeX cannot set one side scores 0, with a note.
    """
    try:
        true = render(coloured_formula(truth), smooth=smooth)
        found = render(coloured_formula(predicted), smooth=smooth)
    except (BadInput, DeadlinePassed) as exc:
        return CdmScore(0.0, 0.0, 0.0, note=exc.message)
    if not true.tokens or not found.tokens:
        return CdmScore(0.0, 0.0, 0.0, note="no token of one side can be seen")
    return compare_rendered(true, found)


def compare_rendered(true: RenderedFormula, found: RenderedFormula) -> CdmScore:
    """Returns the CDM of two rendered formulas."""
    from scipy.optimize import linear_sum_assignment  # 0.6 s to import, and most runs render no formula

    names = _name_costs(true.tokens, found.tokens)
    rows, columns = linear_sum_assignment(names + _place_costs(true, found))
    fitting = _fitting(_centres(true.boxes[rows]), _centres(found.boxes[columns]))
    matched = int((fitting & (names[rows, columns] < 1.0)).sum())
    wanted, given = len(true.tokens), len(found.tokens)
    return CdmScore(
        f1=round(2 * matched / (wanted + given), 3),
        recall=round(matched / wanted, 3),
        precision=round(matched / given, 3),
        matched=matched,
        true_tokens=wanted,
        predicted_tokens=given,
    )


def sign(token: str) -> str:
    """Returns one name for all tokens that print the same sign."""
    token = _SAME_SIGN.get(token, token)
    if _SIZED.match(token):
        token = _SIZED.sub("", token)
    token = _SAME_SIGN.get(token, token)
    for prefix in ("\\wide", "\\var"):
        if token.startswith(prefix):
            return "\\" + token[len(prefix) :]
    return token


def _name_costs(true: tuple[str, ...], found: tuple[str, ...]) -> Floats:
    same = np.array(true)[:, None] == np.array(found)[None, :]
    alike = np.array([sign(t) for t in true])[:, None] == np.array([sign(t) for t in found])[None, :]
    costs: Floats = np.where(same, 0.0, np.where(alike, ALIKE, 1.0))
    return costs


def _place_costs(true: RenderedFormula, found: RenderedFormula) -> Floats:
    from scipy.spatial.distance import cdist

    first = true.boxes / np.array([*true.size, *true.size])
    second = found.boxes / np.array([*found.size, *found.size])
    most = max(len(first), len(second))
    order = np.abs(np.arange(len(first))[:, None] - np.arange(len(second))[None, :]) / most
    costs: Floats = PLACE_WEIGHT * cdist(first, second, "cityblock") / 4 + ORDER_WEIGHT * order
    return costs


def _centres(boxes: Floats) -> Floats:
    return np.stack([(boxes[:, 1] + boxes[:, 3]) / 2, (boxes[:, 0] + boxes[:, 2]) / 2], axis=1)


def _fitting(first: Floats, second: Floats) -> Flags:
    """Marks the matches that one of a few shifts and scales explains; each is found among those left."""
    fitting = np.zeros(len(first), dtype=bool)
    if len(first) <= SAMPLE:
        return ~fitting
    for _ in range(ROUNDS):
        left = np.flatnonzero(~fitting)
        if left.size <= SAMPLE:
            break
        found = _largest_fit(first[left], second[left])
        if not found.any():
            break
        fitting[left[found]] = True
        if fitting.all():
            break
    return fitting


def _largest_fit(first: Floats, second: Floats) -> Flags:
    """RANSAC: marks the matches near the best shift and scale of many that three random matches give."""
    generator = np.random.default_rng(SEED)
    best, best_key = np.zeros(len(first), dtype=bool), (0, -np.inf)
    spread = first - first.mean(axis=0)
    middle = first.mean(axis=0)
    for _ in range(TRIALS):
        chosen = generator.choice(len(first), size=SAMPLE, replace=False)
        a, b = first[chosen], second[chosen]
        a_middle, b_middle = a.mean(axis=0), b.mean(axis=0)
        reach = np.linalg.norm(a - a_middle, axis=1).mean() + 1e-10
        scale = np.linalg.norm(b - b_middle, axis=1).mean() / reach
        residual = np.linalg.norm(scale * spread + middle + b_middle - a_middle - second, axis=1)
        close = residual < RESIDUAL_PX
        key = (int(close.sum()), -float(residual[close].sum()))
        if key > best_key and key[0]:
            best, best_key = close, key
    return best
