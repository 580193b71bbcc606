"""Writes one HTML page for a scored run: means with intervals, slices, and the worst cases.

A case shows the page's picture, and truth and prediction with their differences marked. The page is one
file; text from predictions is escaped, never run.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from penstock.errors import UsageError
from penstock.passes.scores import read_summary
from penstock_eval.results import SampleResult, read_samples, write_text

CASES = 20
MAX_WORDS = 1500  # of either side; a runaway prediction must not make the page unreadable
PICTURE_WIDTH = 700


REPORT = "report.html"


def write_report(folder: Path, metric: str = "", cases: int = CASES) -> Path:
    """Writes `report.html` into a scored folder. Sorts cases by `metric`; default: the run's first."""
    summary, samples = read_summary(folder), read_samples(folder)
    path = folder / REPORT
    write_text(path, report_page(summary, samples, metric, cases), folder)
    return path


def report_page(
    summary: dict[str, Any], samples: Sequence[SampleResult], metric: str = "", cases: int = CASES
) -> str:
    if metric and metric not in summary["scores"]:
        has = ", ".join(summary["scores"])
        raise UsageError(f"There is no score {metric!r} in this run.", f"It has: {has}.")
    metric = metric or next(iter(summary["scores"]), "")
    template = files("penstock_eval").joinpath("report.html").read_text(encoding="utf-8")
    parts = {
        "TITLE": escape(f"{summary['benchmark']}: {summary['count']} samples"),
        "PROTOCOL": escape("; ".join(filter(None, (summary["protocol"], summary.get("method", ""))))),
        "SCORES": _scores(summary),
        "SLICES": _slices(summary),
        "WARNINGS": _warnings(summary["warnings"]),
        "METRIC": escape(metric),
        "CASES": "\n".join(
            _case(s, metric) for s in worst(samples, metric, summary["higher_is_better"], cases)
        ),
    }
    for name, value in parts.items():
        template = template.replace(f"<!--{name}-->", value)
    return template


def worst(
    samples: Sequence[SampleResult], metric: str, higher_is_better: dict[str, bool], count: int
) -> list[SampleResult]:
    """Returns the samples with the worst scores, worst first; leaves out those without the score."""
    scored = [sample for sample in samples if metric in sample.scores]
    sign = 1 if higher_is_better.get(metric, True) else -1
    return sorted(scored, key=lambda sample: sign * sample.scores[metric])[:count]


def mark_differences(truth: str, prediction: str) -> tuple[str, str]:
    """Returns both texts as HTML with the words that differ marked."""
    from rapidfuzz.distance import Levenshtein  # of an extra: importing this module needs none

    first, second = _words(truth), _words(prediction)
    left: list[str] = []
    right: list[str] = []
    for op in Levenshtein.opcodes(first, second):
        gone, new = "".join(first[op.src_start : op.src_end]), "".join(second[op.dest_start : op.dest_end])
        if op.tag == "equal":
            left.append(escape(gone))
            right.append(escape(new))
            continue
        if gone:
            left.append(f"<del>{escape(gone)}</del>")
        if new:
            right.append(f"<ins>{escape(new)}</ins>")
    return "".join(left), "".join(right)


def _words(text: str) -> list[str]:
    """Splits into words with the white space after them; CJK text, which has no spaces, into characters."""
    words: list[str] = []
    current = ""
    for character in text:
        if ord(character) >= 0x2E80:
            words += [current, character] if current else [character]
            current = ""
        elif character.isspace():
            words.append(current + character)
            current = ""
        else:
            current += character
        if len(words) >= MAX_WORDS:
            return [*words, " […]"]
    return [*words, current] if current else words


def _scores(summary: dict[str, Any]) -> str:
    rows = [
        f"<tr><th>{escape(name)} {'↑' if summary['higher_is_better'].get(name, True) else '↓'}</th>"
        f"<td>{v['mean']:.4f}</td><td>{v['low']:.4f} to {v['high']:.4f}</td><td>{v['count']}</td></tr>"
        for name, v in summary["scores"].items()
    ]
    rows += [
        f"<tr><th>{escape(n)}</th><td>{v:.4f}</td><td></td><td></td></tr>"
        for n, v in summary["extra"].items()
    ]
    rows += [
        f"<tr><th>{escape(name)}</th><td colspan=3>{escape(reason)}</td></tr>"
        for name, reason in summary.get("not_computed", {}).items()
    ]
    return "\n".join(rows)


def _slices(summary: dict[str, Any]) -> str:
    metrics = list(summary["scores"])
    head = "".join(f"<th>{escape(metric)}</th>" for metric in metrics)
    rows = [f"<tr><th>slice</th><th>n</th>{head}</tr>"]
    for name, scores in summary["slices"].items():
        count = max((v["count"] for v in scores.values()), default=0)
        cells = "".join(f"<td>{scores[m]['mean']:.3f}</td>" if m in scores else "<td></td>" for m in metrics)
        rows.append(f"<tr><th>{escape(name)}</th><td>{count}</td>{cells}</tr>")
    return "\n".join(rows)


def _warnings(warnings: Sequence[str]) -> str:
    return "".join(f"<li>{escape(warning)}</li>" for warning in warnings) or "<li>none</li>"


def _case(sample: SampleResult, metric: str) -> str:
    truth, prediction = mark_differences(sample.truth, sample.prediction)
    scores = ", ".join(f"{escape(name)} {value:.3f}" for name, value in sample.scores.items())
    notes = "".join(f"<p class=note>{escape(note)}</p>" for note in sample.notes)
    return (
        f"<article><h3>{escape(sample.id)} <small>{escape(metric)} {sample.scores[metric]:.4f}</small></h3>"
        f"<p class=scores>{scores}</p>{notes}<div class=case>{_picture(sample.image)}"
        f"<pre>{truth}</pre><pre>{prediction}</pre></div></article>"
    )


def _picture(path: str) -> str:
    """Returns the sample's picture, scaled down, as an `<img>` that holds it; else a few words."""
    from PIL import Image, UnidentifiedImageError

    if not path or not Path(path).is_file():
        return "<div class=none>no picture</div>"
    try:
        with Image.open(path) as opened:
            opened.draft("RGB", (PICTURE_WIDTH, PICTURE_WIDTH * 2))  # JPEGs are decoded at half size or less
            picture = opened.convert("RGB")
    except (UnidentifiedImageError, Image.DecompressionBombError, OSError, ValueError):
        return "<div class=none>the picture cannot be read</div>"
    picture.thumbnail((PICTURE_WIDTH, PICTURE_WIDTH * 2))
    buffer = io.BytesIO()
    picture.save(buffer, "JPEG", quality=70)
    return f'<img alt="" src="data:image/jpeg;base64,{base64.b64encode(buffer.getvalue()).decode()}">'
