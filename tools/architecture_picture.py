"""Draws docs/img/architecture.svg, the one picture of how Penstock is built.

    python tools/architecture_picture.py docs/img/architecture.svg

Needs the standard library alone. A test draws it again and compares, so edit this file and not the picture.
"""

from __future__ import annotations

import sys
from html import escape
from pathlib import Path

WIDTH, HEIGHT = 900, 590
INK, GREY, LINE, PAPER, GROUND = "#1f2d38", "#5b6b78", "#b9c8d2", "#ffffff", "#f6f9fb"
WATER, WATER_PALE = "#1c7ba8", "#d9ebf4"
CORAL, CORAL_PALE = "#c2410c", "#fbe6da"
GREEN, GREEN_PALE = "#2f8f5b", "#dff1e6"
VIOLET, VIOLET_PALE = "#7c5cbf", "#ebe5f7"
STAGES = (
    ("load", "render, decode"),
    ("orient", "turn upright"),
    ("layout", "find regions"),
    ("crop", "cut pictures"),
    ("recognise", "read each region"),
    ("compose", "order, Markdown"),
)
FONT = "font-family=\"'Helvetica Neue', Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif\""


def main(target: str) -> None:
    Path(target).write_text(picture(), "utf-8")


def picture() -> str:
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'width="{WIDTH}" height="{HEIGHT}" {FONT} role="img">',
        "<title>How Penstock is built</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" rx="10" fill="{GROUND}"/>',
        *_callers(),
        *_run(),
        *_engines(),
        *_after(),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _callers() -> list[str]:
    """Who starts a run."""
    pills = (
        ("penstock …", "command line: cli/"),
        ("penstock.parse(…)", "Python: api/"),
        ("POST /v1/documents", "HTTP and web page: serve/"),
    )
    parts = [_heading(24, 34, "You call")]
    for i, (name, where) in enumerate(pills):
        parts += _card(130 + i * 250, 16, 232, 48, name, where, GREY, PAPER, mono=True)
    parts += [
        _arrow(450, 64, 450, 94),
        _note(462, 84, "passes/ check the options and start a run; recipes/ give it a plan"),
    ]
    return parts


def _run() -> list[str]:
    """The frame of a run: source, stages, ledger."""
    parts = [
        f'<rect x="20" y="98" width="860" height="196" rx="10" fill="{PAPER}" stroke="{WATER}" '
        'stroke-width="2"/>',
        _heading(36, 122, "A run", WATER),
        _note(
            92,
            122,
            "the driver lists pages, an executor (one thread, this machine, or a Ray cluster) moves them,"
            " the driver commits them",
        ),
        *_card(36, 140, 118, 92, "sources/", "PDFs, scans,|images, datasets,|photos", CORAL, CORAL_PALE),
        *_card(
            744, 140, 120, 92, "store/", "the ledger:|a page is done|when it is written", GREEN, GREEN_PALE
        ),
    ]
    for i, (name, does) in enumerate(STAGES):
        x = 176 + i * 92
        parts += _card(
            x, 140, 86, 92, name, does.replace(", ", ",|").replace(" each ", " each|"), WATER, WATER_PALE
        )
    parts += [_arrow(156, 186, 174, 186), _arrow(724, 186, 742, 186)]
    parts += [
        _note(
            176,
            254,
            "stages/ of the recipe “documents”. One item is one page, from end to end;"
            " a page that fails becomes a row",
        ),
        _note(
            176,
            272,
            "with its reason and its neighbours go on. Stop or kill the run,"
            " and the same command goes on from there.",
        ),
    ]
    return parts


def _engines() -> list[str]:
    """What the stages call."""
    return [
        _arrow(450, 294, 450, 322),
        _note(462, 313, "a stage asks an engine: arrays and strings in, plain results out"),
        *_card(
            20,
            326,
            276,
            84,
            "engines/, built in",
            "PP-OCRv6, Korean lines, CDLA layout,|SLANet-plus: on any CPU",
            VIOLET,
            VIOLET_PALE,
        ),
        *_card(
            312,
            326,
            276,
            84,
            "engines/, model servers",
            "vLLM with GLM-OCR, PaddleOCR-VL,|DeepSeek-OCR; any OpenAI API",
            VIOLET,
            VIOLET_PALE,
        ),
        *_card(
            604,
            326,
            276,
            84,
            "documents/, photos/",
            "reading order, sections, tables,|DocJSON; sizes and volumes",
            VIOLET,
            VIOLET_PALE,
        ),
    ]


def _after() -> list[str]:
    """What is made of the ledger's rows."""
    cards = (
        ("exports/", "Markdown, JSON lines,|DocJSON, docling,|HTML, searchable PDF"),
        ("enrich", "summaries and|keywords for tables|and figures"),
        ("embed, search", "vectors and words|in one index;|hybrid search"),
        ("evaluate", "public benchmarks,|their own metrics,|with intervals"),
        ("profile", "where the time went,|what bounds the run,|what to change"),
    )
    parts = [
        # out of the ledger, along the right edge, to the bottom row
        f'<path d="M864 186 H892 V436 H450 V458" fill="none" stroke="{GREY}" stroke-width="1.6"/>',
        _tip(450, 464),
        _heading(24, 452, "Then, from the ledger, as often as you like"),
    ]
    for i, (name, does) in enumerate(cards):
        parts += _card(20 + i * 174, 468, 164, 102, name, does, GREEN, GREEN_PALE)
    return parts


def _card(
    x: int, y: int, width: int, height: int, title: str, text: str, colour: str, fill: str, mono: bool = False
) -> list[str]:
    """A box with a title and lines of text, parted by |."""
    lines = text.split("|")
    middle = x + width / 2
    first = y + height / 2 - (len(lines) * 16 + 18) / 2 + 14
    family = " font-family=\"ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace\"" if mono else ""
    parts = [
        f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="7" fill="{fill}" stroke="{colour}"/>',
        f'<text x="{middle:g}" y="{first:g}" text-anchor="middle" font-size="14" font-weight="700" '
        f'fill="{INK}"{family}>{escape(title)}</text>',
    ]
    parts += [
        f'<text x="{middle:g}" y="{first + 18 + i * 16:g}" text-anchor="middle" font-size="12" '
        f'fill="{INK}">{escape(line)}</text>'
        for i, line in enumerate(lines)
    ]
    return parts


def _heading(x: int, y: int, words: str, colour: str = INK) -> str:
    return f'<text x="{x}" y="{y}" font-size="15" font-weight="700" fill="{colour}">{escape(words)}</text>'


def _note(x: int, y: int, words: str) -> str:
    return f'<text x="{x}" y="{y}" font-size="12.5" fill="{GREY}">{escape(words)}</text>'


def _arrow(x0: int, y0: int, x1: int, y1: int) -> str:
    """A line that ends in a tip; straight down or to the right."""
    down = y1 > y0
    end = (x1, y1 - 6) if down else (x1 - 6, y1)
    tip = _tip(x1, y1) if down else f'<path d="M{x1} {y1} l-9 -5 v10 z" fill="{GREY}"/>'
    line = f'<path d="M{x0} {y0} L{end[0]} {end[1]}" stroke="{GREY}" stroke-width="1.6"/>'
    return line + tip


def _tip(x: int, y: int) -> str:
    return f'<path d="M{x} {y} l-5 -9 h10 z" fill="{GREY}"/>'


if __name__ == "__main__":
    main(sys.argv[1])
