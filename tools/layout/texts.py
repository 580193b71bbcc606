"""Paragraphs and headings by language from libreoffice-help-* (MPL-2.0) and opensource.guide (CC BY 4.0)."""

from __future__ import annotations

import html
import json
import random
import re
import sys
from pathlib import Path

PARAGRAPH = re.compile(r"<(p|h[1-4]|li)\b[^>]*>(.*?)</\1>", re.DOTALL)
MOST = 1500  # of each sort and language


def clean(text: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", "", text)).split())


def of_help(folder: Path) -> tuple[list[str], list[str]]:
    paragraphs, headings = {}, {}
    files = sorted(folder.rglob("*.html"))
    random.Random(1).shuffle(files)
    for file in files[:900]:
        body = file.read_text(errors="ignore").partition('id="DisplayArea"')[2].partition("<footer")[0]
        for tag, text in PARAGRAPH.findall(body):
            text = clean(text)
            if tag.startswith("h") and 3 < len(text) < 70:
                headings[text] = 1
            elif len(text) > 25:
                paragraphs[text] = 1
    return list(paragraphs)[:MOST], list(headings)[:MOST]


def of_guide(folder: Path) -> tuple[list[str], list[str]]:
    paragraphs, headings = {}, {}
    for file in sorted(folder.glob("*.md")):
        for line in file.read_text(errors="ignore").split("\n"):
            text = clean(re.sub(r"\[([^\]]*)\]\([^)]*\)|[*_`>]|\{[^}]*\}", r"\1", line)).lstrip("- ")
            if line.startswith("#"):
                headings[text.lstrip("# ")] = 1
            elif len(text) > 40 and "|" not in text:
                paragraphs[text] = 1
    return list(paragraphs)[:MOST], list(headings)[:MOST]


def main() -> None:
    helps, guides, out = Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3])
    found = {}
    for folder in sorted(helps.iterdir()):
        if (folder / "text").is_dir():
            found[folder.name] = of_help(folder)
    for folder in sorted(f for f in guides.iterdir() if f.is_dir()):
        if folder.name not in found and folder.name not in ("ms", "pcm", "sa"):
            found[folder.name] = of_guide(folder)
    found["en-guide"] = of_guide(guides)
    out.write_text(json.dumps(found, ensure_ascii=False))
    print({name: (len(p), len(h)) for name, (p, h) in found.items()})


if __name__ == "__main__":
    main()
