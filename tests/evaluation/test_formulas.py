"""CDM: tokens, colours, and the published pairs where there is a TeX."""

from __future__ import annotations

import io
import json
import shutil
from pathlib import Path

import pytest
from PIL import Image, ImageDraw
from typer.testing import CliRunner

from penstock.errors import BadInput, MissingModel
from penstock.passes.scores import read_summary
from penstock_eval.cli import app
from penstock_eval.metrics import formula_render
from penstock_eval.metrics.formula_tokens import ColouredFormula, colour, coloured_formula
from penstock_eval.metrics.formulas import cdm, sign
from tests.support import made_benchmarks

needs_tex = pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no TeX (pdflatex) on this machine")


def test_two_ways_to_write_a_formula_make_the_same_tokens() -> None:
    one, two = coloured_formula(r"\frac12 x^2 \sin y"), coloured_formula(r"$$\frac{1}{2} x^{2} \sin{y}$$")
    assert one.tokens == two.tokens == ("\\frac", "1", "2", "x", "2", "s", "i", "n", "y")


def test_arrows_are_not_taken_for_sized_brackets() -> None:
    assert coloured_formula(r"a \leftarrow b \left\{ c \right\}").tokens == (
        "a",
        "\\leftarrow",
        "b",
        "\\left\\{",
        "c",
        "\\right\\}",
    )


def test_text_and_operator_names_are_compared_by_letter() -> None:
    assert coloured_formula(r"x \text{ for } y").tokens == coloured_formula(r"x \mathrm{~for~} y").tokens
    assert (
        coloured_formula(r"\operatorname*{max} x").tokens
        == coloured_formula(r"\max x").tokens
        == ("m", "a", "x", "x")
    )


def test_every_token_has_its_own_colour() -> None:
    assert colour(0) == (0, 0, 15)
    assert len({colour(i) for i in range(5000)}) == 5000


@pytest.mark.parametrize("latex", [r"\frac{1", "x}"])
def test_unbalanced_braces_are_a_sentence(latex: str) -> None:
    with pytest.raises(BadInput, match="brace"):
        coloured_formula(latex)


def test_signs_have_one_name() -> None:
    assert sign("\\vert") == sign("|") == sign("\\left|") == "|"
    assert sign("\\varepsilon") == "\\epsilon"
    assert sign("\\leftarrow") == "\\leftarrow"


def test_without_a_tex_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    formula_render.tex.cache_clear()
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(MissingModel, match="texlive"):
        formula_render.tex()
    formula_render.tex.cache_clear()


def test_a_score_that_is_left_out_says_what_it_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    made_benchmarks.unimernet(tmp_path / "data")
    given = tmp_path / "given.json"
    given.write_text(json.dumps({"spe/0000000": "x+1"}))
    out = tmp_path / "out"
    command = ["score", "unimernet", str(given), "--data", str(tmp_path / "data"), "-o", str(out)]
    shown = CliRunner().invoke(app, [*command, "--workers", "0"], catch_exceptions=False)
    assert "cdm\tnot computed, needs pdflatex" in shown.stdout.splitlines()
    assert read_summary(out)["not_computed"] == {"cdm": "not computed, needs pdflatex"}
    assert "not computed, needs pdflatex" in (out / "report.html").read_text()


def drawn(formula: ColouredFormula) -> bytes:
    """A PDF with one box a token, side by side, in place of TeX's."""
    page = Image.new("RGB", (400, 80), "white")
    for number in range(len(formula.tokens)):
        ImageDraw.Draw(page).rectangle((20 + 30 * number, 20, 38 + 30 * number, 50), fill=colour(number))
    pdf = io.BytesIO()
    page.save(pdf, "PDF", resolution=200)
    return pdf.getvalue()


def test_tokens_are_matched_by_name_and_place_on_the_rendered_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formula_render, "_compiled", drawn)
    assert cdm("x+y=z", "x+y=z").f1 == 1.0
    found = cdm("x+y=z+1", "x-y=z")
    assert (found.matched, found.true_tokens, found.predicted_tokens) == (4, 7, 5)


@needs_tex
def test_the_published_pairs_score_as_stated(shared_data: Path) -> None:
    folder = shared_data / "formula_cdm"
    expected = json.loads((folder / "expected_CDM.json").read_text())["results"]
    for pair in json.loads((folder / "cdm" / "assets" / "example" / "input_example.json").read_text()):
        assert cdm(pair["gt"], pair["pred"]).f1 == pytest.approx(expected[pair["img_id"]]["F1"], abs=0.01)


@needs_tex
def test_a_formula_is_like_itself_and_broken_latex_scores_zero() -> None:
    latex = r"\sum_{i=1}^{n} \hat{x}_i \leq \sqrt{2}"
    assert cdm(latex, latex, smooth=False).f1 == 1.0
    found = cdm(latex, r"\frac{1")
    assert found.f1 == 0.0
    assert "brace" in found.note
