"""The table of docs/quality.md in which stand what Penstock was, what it is, and other tools.

Each run of `score_all.py` leaves its scores in OUT/scores.json. The table is made of several such files: the
tree as it was before the rules, networks and efforts of today, this one, and tools that read pictures.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

SCORES = "scores.json"
RULES = "rules and bounds"  # what was developed on a set's own pages


@dataclass(frozen=True, slots=True)
class Line:
    """One score of one set. `developed` says what of us was chosen on its pages."""

    key: str
    score: str
    title: str
    developed: str = RULES


LINES = (
    Line("omnidocbench_v1.5", "text_edit", "OmniDocBench demo v1.5: text edit, less is better"),
    Line("omnidocbench_v1.5", "table_teds", "OmniDocBench demo v1.5: TEDS of tables"),
    Line("omnidocbench_v1.5", "formula_edit", "OmniDocBench demo v1.5: formula edit, less is better"),
    Line("omnidocbench_v1.5", "order_edit", "OmniDocBench demo v1.5: reading order, less is better"),
    Line("omnidocbench_v1.5", "invented", "OmniDocBench demo v1.5: invented text, less is better"),
    Line("omnidocbench_v1.6", "text_edit", "OmniDocBench demo v1.6: text edit, less is better"),
    Line("pubtabnet_tables", "teds", "PubTabNet examples as tables: TEDS"),
    Line("pubtabnet", "teds (page text)", "PubTabNet examples as pages: TEDS"),
    Line("sroie", "word_recall", "Receipts: recall of words"),
    Line("sroie", "word_precision", "Receipts: precision of words"),
    Line("sroie_fields", "all_fields", "Receipts: fields found"),
    Line("korean_book_pictures_body", "cer_without_spaces", "Korean text, pictures: CER, less is better"),
    Line("korean_book_pictures_body", "cer", "Korean text, pictures: CER with spaces, less is better"),
    Line("korean_book_body", "cer_without_spaces", "Korean text, layer: CER, less is better"),
    Line("korean_report_pictures", "cer_without_spaces", "Korean report, pictures: CER, less is better"),
    Line("korean_report_body", "cer_without_spaces", "Korean report, layer: CER, less is better"),
    Line("turned", "cer", "A sentence in four positions: CER, less is better"),
    Line("glmocr", "nid", "Agreement with GLM-OCR's own output", "nothing"),
)
SECONDS = (
    ("omnidocbench", "OmniDocBench demo: CPU s a page"),
    ("sroie", "Receipts: CPU s a page"),
    ("korean_book_pictures", "Korean text, pictures: CPU s a page"),
)
Scores = Mapping[str, Mapping[str, Mapping[str, float]]]


def write_scores(out: Path, scores: Scores, cpu_s: Mapping[str, float]) -> None:
    """Keeps what a run scored. CPU seconds of sets that were read earlier stay as they were."""
    path = out / SCORES
    earlier = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {"cpu_s": {}}
    kept = {"scores": scores, "cpu_s": {**earlier["cpu_s"], **cpu_s}}
    path.write_text(json.dumps(kept, indent=1), encoding="utf-8")


def table(columns: Mapping[str, Path]) -> list[str]:
    """One column for each folder of a run; the last is today's, with its intervals."""
    runs = {
        name: json.loads((folder / SCORES).read_text(encoding="utf-8")) for name, folder in columns.items()
    }
    lines = [
        "| | " + " | ".join(runs) + " | interval | developed on its pages |",
        "|---|" + "---|" * (len(runs) + 2),
    ]
    *_, today = runs.values()
    for line in LINES:
        one = today["scores"].get(line.key, {}).get(line.score)
        if one is None:
            continue
        cells = [_cell(run["scores"].get(line.key, {}).get(line.score)) for run in runs.values()]
        between = f"{one['low']:.4f} to {one['high']:.4f}"
        lines.append(f"| {line.title} | {' | '.join(cells)} | {between} | {line.developed} |")
    for key, title in SECONDS:
        spent = [run["cpu_s"].get(key) for run in runs.values()]
        lines.append(f"| {title} | {' | '.join('–' if s is None else f'{s:.1f}' for s in spent)} | | |")
    return lines


def _cell(one: Mapping[str, float] | None) -> str:
    return "–" if one is None else f"{one['mean']:.4f}"
