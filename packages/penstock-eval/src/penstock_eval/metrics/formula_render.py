"""Renders a coloured formula with TeX and finds the box of every colour.

A box holds the pixels of the token's own colour. At 200 dots an inch, smoothed, thin strokes have no such
pixel, so both sides lose thin tokens alike, as in the published CDM figures. `smooth=False` renders
without smoothing and keeps every token.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from penstock.errors import BadInput, DeadlinePassed, MissingModel
from penstock_eval.metrics.formula_tokens import COLOUR_STEP, LEVELS, ColouredFormula

DPI = 200
TEX_DEADLINE_S = 30.0
PAD = 8  # white kept around the formula
TOLERANCE = 1  # a rasteriser may round a colour by one
PAPERS = ((1300, 3), (600, 4), (0, 5))  # more tokens than this: A3, A4, else A5
MAX_PAPER = 1  # A1; smaller numbers are larger paper
CJK = re.compile(r"[\u3400-\u9fff\uac00-\ud7a3]")

# No braces around coloured text: a group would change TeX's spacing.
DOCUMENT = r"""
\documentclass[12pt]{article}
\usepackage[landscape]{geometry}
\geometry{a@PAPER@paper,scale=0.98}
\pagestyle{empty}
\usepackage{booktabs,amsmath,upgreek,amssymb,xcolor}
\begin{document}
\makeatletter
\renewcommand*{\@textcolor}[3]{\protect\leavevmode\begingroup\color#1{#2}#3\endgroup}
\makeatother
\begin{displaymath}
@FORMULA@
\end{displaymath}
\end{document}
"""

Boxes = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class RenderedFormula:
    """The tokens that left a mark, their boxes (x0, y0, x1, y1), and the picture's width and height."""

    tokens: tuple[str, ...]
    boxes: Boxes
    size: tuple[int, int]


@cache
def tex() -> str:
    """Returns the path of pdflatex. Raises MissingModel with what to install."""
    found = shutil.which("pdflatex")
    if found is None:
        raise MissingModel(
            "CDM renders formulas, and there is no TeX (pdflatex) on this machine.",
            "Install TeX Live (Debian and Ubuntu: apt-get install texlive-latex-base texlive-latex-extra), "
            "or leave CDM out.",
        )
    return found


def what_cdm_needs() -> str:
    """Says why a run without CDM has none."""
    return "not computed, needs pdflatex" if shutil.which("pdflatex") is None else "not computed, needs --cdm"


def render(formula: ColouredFormula, *, smooth: bool = True) -> RenderedFormula:
    """Returns the formula's tokens with their boxes. Raises BadInput if TeX cannot set it."""
    pixels = _cropped(_render(_compiled(formula), smooth))
    height, width = pixels.shape[:2]
    found = _boxes(pixels, len(formula.tokens))
    seen = found[:, 2] >= 0
    tokens = tuple(token for token, kept in zip(formula.tokens, seen, strict=True) if kept)
    return RenderedFormula(tokens, found[seen], (width, height))


def _compiled(formula: ColouredFormula) -> bytes:
    """Returns the PDF, on larger paper if the formula does not fit."""
    if CJK.search(formula.latex):
        raise BadInput("The formula holds CJK text, which pdflatex cannot set.")
    paper = next(size for more_than, size in PAPERS if len(formula.tokens) >= more_than)
    while True:
        pdf, fits = _pdflatex(DOCUMENT.replace("@PAPER@", str(paper)).replace("@FORMULA@", formula.latex))
        if fits or paper == MAX_PAPER:
            return pdf
        paper -= 1


def _pdflatex(source: str) -> tuple[bytes, bool]:
    with tempfile.TemporaryDirectory(prefix="penstock-tex-") as name:
        folder = Path(name)
        (folder / "formula.tex").write_text(source, encoding="utf-8")
        command = [tex(), "-interaction=nonstopmode", "-no-shell-escape", "formula.tex"]
        try:
            subprocess.run(
                command,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=TEX_DEADLINE_S,
                check=False,
                env={"PATH": str(Path(tex()).parent), "HOME": name, "openin_any": "p", "openout_any": "p"},
            )
        except subprocess.TimeoutExpired as exc:
            raise DeadlinePassed(f"TeX took longer than {TEX_DEADLINE_S:g} s for a formula.") from exc
        pdf = folder / "formula.pdf"
        if not pdf.is_file():
            raise BadInput("TeX could not set the formula.")
        log = (folder / "formula.log").read_text(encoding="utf-8", errors="replace")
        pages = re.search(r"Output written on .*?\((\d+) page", log, re.DOTALL)
        return pdf.read_bytes(), "Overfull" not in log and (pages is None or pages[1] == "1")


def _render(pdf: bytes, smooth: bool) -> NDArray[np.uint8]:
    import pypdfium2

    document = pypdfium2.PdfDocument(pdf)
    try:
        plain = {} if smooth else {"no_smoothtext": True, "no_smoothpath": True}
        pages = [
            np.asarray(page.render(scale=DPI / 72, **plain).to_pil().convert("RGB")) for page in document
        ]
    finally:
        document.close()
    pixels: NDArray[np.uint8] = np.concatenate(pages, axis=0)
    return pixels


def _cropped(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    inky = (pixels != 255).any(axis=2)
    rows, columns = np.flatnonzero(inky.any(axis=1)), np.flatnonzero(inky.any(axis=0))
    if rows.size == 0:
        raise BadInput("The formula leaves no ink.")
    top, left = max(0, int(rows[0]) - PAD), max(0, int(columns[0]) - PAD)
    return pixels[top : int(rows[-1]) + PAD, left : int(columns[-1]) + PAD]


def _boxes(pixels: NDArray[np.uint8], count: int) -> Boxes:
    """Returns the box of each token's colour, a pixel wider on each side; -1 if no pixel has the colour."""
    values = pixels.astype(np.int32)
    levels = (values + COLOUR_STEP // 2) // COLOUR_STEP
    near = (np.abs(values - levels * COLOUR_STEP) <= TOLERANCE).all(axis=2)
    near &= (values < 255 - TOLERANCE).any(axis=2)
    number = (levels * np.array([LEVELS * LEVELS, LEVELS, 1])).sum(axis=2) - 1
    ys, xs = np.nonzero(near & (number >= 0) & (number < count))
    which = number[ys, xs]
    boxes = np.full((count, 4), -1.0)
    for column, positions, ufunc, start in ((0, xs, np.minimum, np.inf), (1, ys, np.minimum, np.inf)):
        extreme = np.full(count, start)
        ufunc.at(extreme, which, positions)
        boxes[:, column] = extreme - 1
    for column, positions in ((2, xs), (3, ys)):
        extreme = np.full(count, -2.0)
        np.maximum.at(extreme, which, positions)
        boxes[:, column] = extreme + 1
    return boxes
