"""Tree edit distance, TEDS and MHS, against APTED and the official figures."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest

from penstock.errors import DeadlinePassed
from penstock_eval.metrics.headings import heading_similarity
from penstock_eval.metrics.tables import document, teds_both
from penstock_eval.metrics.tree import tree_distance, tree_shape


def random_tree(size: int, generator: random.Random) -> list[list[int]]:
    children: list[list[int]] = [[]]
    for node in range(1, size):
        children.append([])
        children[generator.randrange(max(0, node - 6), node)].append(node)
    return children


def rename_costs(first: list[int], second: list[int]) -> np.ndarray:
    return (np.array(first)[:, None] != np.array(second)[None, :]).astype(float)


def test_distances_equal_apteds_on_random_trees() -> None:
    apted = pytest.importorskip("apted")
    helpers = pytest.importorskip("apted.helpers")
    generator = random.Random(7)
    for _ in range(30):
        trees = [random_tree(generator.randrange(1, 25), generator) for _ in range(2)]
        labels = [[generator.randrange(3) for _ in tree] for tree in trees]

        def bracket(which: int, node: int, trees: list = trees, labels: list = labels) -> str:
            inside = "".join(bracket(which, child) for child in trees[which][node])
            return f"{{{labels[which][node]}{inside}}}"

        expected = apted.APTED(
            *(helpers.Tree.from_text(bracket(i, 0)) for i in (0, 1))
        ).compute_edit_distance()
        (one, one_order), (two, two_order) = tree_shape(trees[0]), tree_shape(trees[1])
        costs = rename_costs([labels[0][i] for i in one_order], [labels[1][i] for i in two_order])
        assert tree_distance(one, two, costs) == pytest.approx(expected)


def test_merged_cells_and_words_cost_what_the_rules_say() -> None:
    plain = document("<table><tr><td>a</td><td>b</td></tr><tr><td>c</td><td>d</td></tr></table>")
    merged = document('<table><tr><td colspan="2">a</td></tr><tr><td>c</td><td>d</td></tr></table>')
    found = teds_both(merged, plain)
    assert found.structure == pytest.approx(
        1 - 2 / 6
    )  # of six nodes below the table one is lost and one is another
    other = teds_both(plain.replace(">d<", ">dd<"), plain)
    assert (other.teds, other.structure) == (pytest.approx(1 - 0.5 / 6), 1.0)  # half of a cell's letters


def test_pubtabnet_samples_give_the_official_means(shared_data: Path) -> None:
    folder = shared_data / "pubtabnet_examples" / "src"
    given = json.loads((folder / "sample_pred.json").read_text())
    truth = json.loads((folder / "sample_gt.json").read_text())
    expected = json.loads((folder / "expected_TEDS_official_metric.json").read_text())
    scores = {name: teds_both(given.get(name, ""), row["html"]) for name, row in truth.items()}
    for name, official in expected.items():
        assert scores[name].teds == pytest.approx(official["TEDS"], abs=1e-6)
        assert scores[name].structure == pytest.approx(official["TEDS_S"], abs=1e-6)
    assert sum(s.teds for s in scores.values()) / len(scores) == pytest.approx(0.899678, abs=5e-7)
    assert sum(s.structure for s in scores.values()) / len(scores) == pytest.approx(0.936100, abs=5e-7)


@pytest.mark.parametrize("version", ["v1.0_shipped_in_repo", "v1.5_official_code_run"])
def test_saved_omnidocbench_tables_score_to_six_digits(shared_data: Path, version: str) -> None:
    folder = shared_data / "omnidocbench_demo" / "expected" / version
    for pair in json.loads((folder / "end2end_quick_match_table_result.json").read_text()):
        found = teds_both(pair["norm_pred"], pair["norm_gt"])
        assert found.teds == pytest.approx(pair["metric"]["TEDS"], abs=1e-6)
        assert found.structure == pytest.approx(pair["metric"]["TEDS_structure_only"], abs=1e-6)


def table(rows: int, columns: int, word: str = "cell") -> str:
    cells = "".join(
        "<tr>" + "".join(f"<td>{word} {r} {c}</td>" for c in range(columns)) + "</tr>" for r in range(rows)
    )
    return document(f"<table>{cells}</table>")


def test_a_lost_row_costs_its_cells_and_itself() -> None:
    assert teds_both(table(4, 3), table(5, 3)).teds == pytest.approx(1 - 4 / 20)
    assert teds_both(table(5, 3, "other"), table(5, 3)).structure == 1.0


def test_what_is_no_table_scores_zero_and_says_why() -> None:
    for broken in ("", "<p>none</p>", "\x00", document("<table><tr><td colspan=x>a</td></tr></table>")):
        found = teds_both(broken, table(2, 2))
        assert (found.teds, found.structure) == (0.0, 0.0)
        assert found.note


def test_a_table_past_its_deadline_scores_zero() -> None:
    found = teds_both(table(60, 60, "a"), table(59, 61, "b"), deadline_s=0.05)
    assert (found.teds, "longer than 0.05 s" in found.note) == (0.0, True)


def test_a_table_of_five_thousand_cells_ends_at_its_deadline() -> None:
    found = teds_both(table(500, 10, "a"), table(480, 10, "b"), deadline_s=1.0)
    assert "longer than 1 s" in found.note


def test_a_tree_past_its_deadline_is_an_error() -> None:
    outline, order = tree_shape(random_tree(200, random.Random(1)))
    with pytest.raises(DeadlinePassed):
        tree_distance(outline, outline, rename_costs(order, order), deadline_s=-1.0)


def test_nested_tags_without_end_do_not_break_the_reader() -> None:
    bomb = document("<table>" + "<b>" * 50_000 + "</table>")
    assert teds_both(bomb, table(2, 2), deadline_s=5).teds < 0.1  # the official score may be under 0, too


def test_headings_of_any_level_are_the_same_heading() -> None:
    found = heading_similarity("# A\n\ntext\n\n## B\n\nmore", "## A\n\ntext\n\n# B\n\nmore")
    assert found is not None
    assert (found.mhs, found.structure) == (1.0, 1.0)


def test_a_truth_without_headings_has_no_score_and_a_prediction_without_scores_zero() -> None:
    assert heading_similarity("plain", "# A") is None
    found = heading_similarity("# A", "plain")
    assert found is not None
    assert found.mhs == 0.0
