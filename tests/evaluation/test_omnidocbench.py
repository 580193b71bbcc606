"""OmniDocBench end to end: the official numbers, and pages made to break things."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from penstock_eval.benchmarks.omnidocbench import OmniDocBench, unofficial_scores
from penstock_eval.metrics.near_match import occurs_nearly
from penstock_eval.metrics.text import edit_distance
from penstock_eval.omnidocbench.elements import predicted_elements
from penstock_eval.omnidocbench.matching import MatchLine, MatchRules, quick_match
from penstock_eval.omnidocbench.normalise import formula_form, table_form, text_form
from penstock_eval.omnidocbench.page import order_edit, score_page
from penstock_eval.omnidocbench.protocols import V1_0, V1_5, protocol_named
from penstock_eval.omnidocbench.truth import TruePage, read_pages
from penstock_eval.scoring import score_folder
from tests.conftest import REPO
from tests.support.effort import cpu_seconds

EXPECTED = {
    "v1.0": {
        "text_edit": 0.356126,
        "formula_edit": 0.492899,
        "table_edit": 0.202719,
        "order_edit": 0.216996,
        "TEDS_all_tables": 0.783813,
        "TEDS_structure_only_all_tables": 0.911589,
    },
    "v1.5": {
        "text_edit": 0.351317,
        "formula_edit": 0.318945,
        "table_edit": 0.202719,
        "order_edit": 0.161337,
        "table_teds": 0.800119,
        "table_teds_structure": 0.914552,
        "TEDS_all_tables": 0.783813,
        "TEDS_structure_only_all_tables": 0.911589,
    },
    # the official v1.6 program (147cd5a), run on the same pages with pylatexenc 2.11
    "v1.6": {
        "text_edit": 0.335621,
        "formula_edit": 0.236635,
        "table_edit": 0.190512,
        "order_edit": 0.224300,
        "table_teds": 0.814491,
        "texts_edit_whole": 0.475074,
        "formulas_edit_whole": 0.246281,
        "TEDS_all_tables": 0.796747,
        "TEDS_structure_only_all_tables": 0.911589,
    },
}


MADE = REPO / "tests" / "fixtures" / "omnidocbench"


@pytest.mark.parametrize("version", EXPECTED)
def test_made_pages_score_as_when_the_official_numbers_were_checked(version: str) -> None:
    found = score_folder(OmniDocBench(version=version), MADE, MADE / "predictions", workers=0).summary
    numbers = {**{name: interval.mean for name, interval in found.scores.items()}, **found.extra}
    expected = json.loads((MADE / "expected.json").read_text())[version]
    assert numbers == pytest.approx(expected, abs=1e-6)
    assert found.protocol == f"OmniDocBench {version}"


@pytest.mark.parametrize("version", EXPECTED)
def test_the_demo_gives_the_official_numbers_end_to_end(shared_data: Path, version: str) -> None:
    demo = shared_data / "omnidocbench_demo"
    found = score_folder(OmniDocBench(version=version), demo, demo / "predictions_end2end", workers=0).summary
    numbers = {**{name: interval.mean for name, interval in found.scores.items()}, **found.extra}
    for name, value in EXPECTED[version].items():
        assert numbers[name] == pytest.approx(value, abs=1e-6), name
    assert found.protocol == f"OmniDocBench {version}"


FOLDERS = {"v1.0": "v1.0_shipped_in_repo", "v1.5": "v1.5_official_code_run"}


@pytest.mark.parametrize("protocol", [V1_0, V1_5], ids=lambda protocol: protocol.name)
def test_every_official_pair_is_found(shared_data: Path, protocol) -> None:  # type: ignore[no-untyped-def]
    demo = shared_data / "omnidocbench_demo"
    saved = demo / "expected" / FOLDERS[protocol.name]
    pages = read_pages(demo / "OmniDocBench_demo.json")
    scored = {
        p.image: score_page(p, (demo / "predictions_end2end" / f"{p.stem}.md").read_text(), protocol)
        for p in pages
    }
    for part, name in (("texts", "text_block"), ("formulas", "display_formula"), ("tables", "table")):
        official = json.loads((saved / f"end2end_quick_match_{name}_result.json").read_text())
        for image, page in scored.items():
            ours = sorted((pair.norm_truth, pair.norm_prediction) for pair in getattr(page, part))
            theirs = sorted((x["norm_gt"], x["norm_pred"]) for x in official if x["img_id"] == image)
            assert ours == theirs


SINGLE = {"text_ocr": ("text", 0.096995), "formula": ("latex", 0.186812), "table": ("html", 0.118297)}


@pytest.mark.parametrize("module", SINGLE)
def test_single_modules_give_the_official_edit_distances(shared_data: Path, module: str) -> None:
    key, expected = SINGLE[module]
    form = {
        "text": text_form,
        "latex": lambda t: formula_form(t, True),
        "html": lambda t: table_form(t),
    }[key]
    folder = shared_data / "omnidocbench_demo" / "recognition"
    rates = []
    for page in json.loads((folder / f"OmniDocBench_demo_{module}.json").read_text()):
        boxes = [box for box in page["layout_dets"] if box.get(key) and box.get("pred")]
        pairs = [(form(box[key]) or box[key], form(box["pred"]) or box["pred"]) for box in boxes]
        if pairs:
            lengths = sum(max(len(truth), len(given)) for truth, given in pairs)
            rates.append(sum(edit_distance(truth, given) for truth, given in pairs) / lengths)
    assert sum(rates) / len(rates) == pytest.approx(expected, abs=1e-6)


def test_invented_text_moves_our_score_and_not_the_official_one() -> None:
    false = (
        "The committee resolved in March that all tariffs on glassware be lifted before the year ends.\n\n"
        "Seventeen volunteers had to recall the colour of the curtains in a hotel they had visited.\n\n"
        "<table><tr><td>Region</td><td>Turnover</td></tr><tr><td>Valley</td><td>48,213</td></tr></table>"
    )
    official, invented = [], []
    for page in read_pages(MADE / "OmniDocBench.json"):
        text = (MADE / "predictions" / f"{page.stem}.md").read_text()
        values = [score_page(page, markdown, V1_5) for markdown in (text, f"{text}\n\n{false}")]
        edits = [sum(p.edits for p in v.texts) / max(1, sum(p.length for p in v.texts)) for v in values]
        official.append(edits[1] - edits[0])
        invented.append(
            [unofficial_scores(page, markdown, V1_5)["invented"] for markdown in (text, f"{text}\n\n{false}")]
        )
    assert sum(official) / len(official) < 0.01
    assert max(before for before, _ in invented) == 0.0
    assert sum(after for _, after in invented) / len(invented) > 0.15


def test_text_loses_punctuation_and_formulas_lose_fonts() -> None:
    assert text_form("Hello, $\\alpha_1$ 한글 띄어!") == "Helloα_1한글띄어"
    assert formula_form("\\[ \\mathbf{X} \\, = 1 . \\]", True) == "{x}\\,=1"


def test_tables_keep_rows_cells_and_spans_only() -> None:
    html = '<table class="x"><thead><tr><th colspan="2" style="a">A<sup>1</sup></th></tr></thead></table>'
    expected = '<html><body><table border="1" ><tr><td colspan="2">A1</td></tr></table></body></html>'
    assert table_form(html) == expected
    assert table_form("no table") == ""


def test_a_page_is_cut_into_its_elements() -> None:
    pipes, html = "| a | b |\n|---|---|\n| 1 | 2 |", "<table><tr><td>c</td></tr></table>"
    page = f"# Title\n\nText with $x_1$.\n\n$$\ny = 2\n$$\n\n{pipes}\n\n{html}"
    kinds = [(block.kind, block.fine) for block in predicted_elements(page, V1_5)]
    assert ("equation_isolated", "equation_inline") in kinds
    assert kinds.count(("html_table", "")) == 1
    assert ("html_table", "md2html_table") in kinds
    assert [block.content for block in predicted_elements(page, V1_5) if block.kind == "text_all"] == [
        "# Title",
        "Text with $x_1$.",
    ]


def test_split_paragraphs_are_joined_before_matching() -> None:
    truth = [
        MatchLine("x", "abcdefghijklmnopqrstuvwxyz0123456789", "text_block"),
        MatchLine("y", "unrelatedline", "text_block"),
    ]
    given = [
        MatchLine("x", "abcdefghijklmnopqr", "t"),
        MatchLine("x", "stuvwxyz0123456789", "t"),
        MatchLine("y", "unrelatedline", "t"),
    ]
    pairs = {pair.truths: pair.predictions for pair in quick_match(truth, given, MatchRules())}
    assert pairs == {(0,): (0, 1), (1,): (2,)}


def test_the_skipping_window_search_agrees_with_the_plain_one() -> None:
    from random import Random

    from rapidfuzz.distance import Levenshtein

    generator = Random(3)
    for _ in range(300):
        text = "".join(generator.choices("abcd", k=generator.randrange(1, 60)))
        piece = "".join(generator.choices("abcd", k=generator.randrange(1, 12)))
        windows = [text[i : i + len(piece)] for i in range(len(text) - len(piece) + 1)]
        plain = any(Levenshtein.distance(piece, window) / len(piece) < 0.4 for window in windows)
        assert occurs_nearly(piece, text, 0.4) == plain


@pytest.mark.parametrize(
    "page",
    [
        "<table>" * 20_000,
        "<table><tr>" + "<td>" * 10_000 + "</table>",
        "$" * 10_001,
        "| a |" * 5_000,
        "\\begin{tabular}" * 3_000,
        "![" * 20_000,
        "\x01\x02 \ud7ff",
    ],
    ids=["open tables", "open cells", "dollars", "pipes", "open tabulars", "open pictures", "controls"],
)
def test_pages_made_to_hang_end_soon(page: str) -> None:
    truth = read_pages(MADE / "OmniDocBench.json")[2]
    assert cpu_seconds(lambda: score_page(truth, page, V1_5, table_deadline_s=5)) < 30


def test_v1_6_orders_tables_too_and_counts_missing_pages(tmp_path: Path) -> None:
    expected = json.loads((MADE / "expected.json").read_text())
    assert expected["v1.6"]["order_edit"] > expected["v1.5"]["order_edit"]
    counts = {
        v: score_folder(OmniDocBench(version=v), MADE, tmp_path, workers=0).summary.count
        for v in ("v1.5", "v1.6")
    }
    assert counts == {"v1.5": 0, "v1.6": 4}


def test_an_unknown_protocol_is_a_sentence() -> None:
    with pytest.raises(Exception, match=r"no OmniDocBench protocol 'v9'"):
        protocol_named("v9")


def test_swapped_columns_are_read_in_the_wrong_order() -> None:
    assert order_edit([1, 2, 3, 4, 5, 6], [4, 5, 6, 1, 2, 3]) == 1.0
    assert order_edit([1, 2], [1, 2]) == 0.0
    assert order_edit([], []) is None


def test_a_page_is_called_by_its_picture_however_that_ends() -> None:
    names = ("report.pdf_3.jpg", "scans/page.v2.jpeg", "a.tiff")
    assert [TruePage(name, (), ()).stem for name in names] == ["report.pdf_3", "page.v2", "a"]
