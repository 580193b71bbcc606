"""Writes blocks as an article in HTML: headings, paragraphs, lists, code, tables, figures with captions.

What a document says is escaped, whatever it looks like. Headers, footers and page numbers are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import groupby

from penstock.documents.docjson.model import Block
from penstock.documents.docjson.table import named_place, table_html
from penstock.region import FORMULA_LABELS

MAX_HEADING_LEVEL = 6
PLAIN_WORDS = {
    "text_header": "title",
    "text_section": "heading",
    "text_paragraph": "text",
    "table": "table",
    "graph": "chart",
    "diagram": "diagram",
    "complex_image": "figure",
}
VISUAL = ("graph", "diagram", "complex_image")
_BULLET = re.compile(r"^(?:[•‣◦▪●∙·]\s*|[-*]\s+)(?=\S)")
_NUMBERED = re.compile(r"^(\d{1,3})[.)]\s+(?=\S)")


def article_html(blocks: Sequence[Block], pictures: Mapping[str, str]) -> str:
    """Returns the blocks of a page. `pictures` are addresses of crops by the ids of assets."""
    by_id = {block.id: block for block in blocks}
    told_elsewhere = {id for block in blocks for id in block.caption_ids if id in by_id}
    shown = [block for block in blocks if block.layer == "body" and block.id not in told_elsewhere]
    return "".join(_piece(block, by_id, pictures.get(block.asset_id, "")) for block in shown)


def plain_word(block: Block) -> str:
    """Returns what people call a block: "figure", not "complex_image"."""
    return block.role if block.role not in ("", "furniture") else PLAIN_WORDS[block.category]


def _piece(block: Block, by_id: Mapping[str, Block], picture: str) -> str:
    if block.category in ("text_header", "text_section"):
        level = min(1 + (block.level or 0), MAX_HEADING_LEVEL)
        return f"<h{level}{_named(block)}>{_line(block.text)}</h{level}>\n"
    if block.category == "table" or block.category in VISUAL:
        return _figure(block, by_id, picture)
    return f"<div{_named(block)}{_class(block)}>{_text(block, picture)}</div>\n"


def _named(block: Block) -> str:
    return f' id="{block.id}"{named_place(block.locator, block.confidence)}'


def _class(block: Block) -> str:
    return f' class="{block.role}"' if block.role in ("caption", "footnote", "formula", "reference") else ""


def _text(block: Block, picture: str) -> str:
    if block.role == "code":
        return f"<pre><code>{escape(block.text)}</code></pre>"
    if block.label in FORMULA_LABELS and block.text:
        return f"<code>{escape(block.text)}</code>"
    if not block.text:
        return _image(picture, plain_word(block)) or "<p><em>Nothing was read here.</em></p>"
    lines = [line.strip() for line in block.text.split("\n") if line.strip()]
    if block.role == "contents":
        return f"<p>{'<br>'.join(map(_line, lines))}</p>"
    return "".join(_lines(lines))


def _lines(lines: Sequence[str]) -> Iterator[str]:
    """Yields paragraphs, and lists of the lines that begin like items."""
    for tag, group in groupby(lines, key=_list_of):
        some = list(group)
        if not tag:
            yield from (f"<p>{_line(line)}</p>" for line in some)
            continue
        items = "".join(f"<li>{_line(_BULLET.sub('', _NUMBERED.sub('', line, 1), 1))}</li>" for line in some)
        number = _NUMBERED.match(some[0])
        start = f' start="{int(number[1])}"' if number and number[1] != "1" else ""
        yield f"<{tag}{start}>{items}</{tag}>"


def _list_of(line: str) -> str:
    return "ul" if _BULLET.match(line) else "ol" if _NUMBERED.match(line) else ""


def _figure(block: Block, by_id: Mapping[str, Block], picture: str) -> str:
    captions = [by_id[id] for id in block.caption_ids if id in by_id]
    above = block.category == "table"  # where print puts a table's caption
    said = "".join(f"<figcaption{_named(one)}>{_line(one.text)}</figcaption>" for one in captions)
    body = _table(block, picture) if above else _picture(block, picture)
    told = (said, body) if above else (body, said)
    return f"<figure{_named(block)}>{''.join(told)}{_more(block)}</figure>\n"


def _table(block: Block, picture: str) -> str:
    if block.table is None or not block.table.cells:
        return _image(picture, "table") or "".join(_lines(block.text.split("\n")))
    return f'<div class="wide">{table_html(block.table, with_places=True)}</div>'


def _picture(block: Block, picture: str) -> str:
    words = " ".join(block.text.split())
    image = _image(picture, words or PLAIN_WORDS[block.category])
    return image or f"<p>{_line(words) or 'A ' + PLAIN_WORDS[block.category] + ' without a picture.'}</p>"


def _image(address: str, words: str) -> str:
    return f'<img src="{escape(address)}" alt="{escape(words)}" loading="lazy">' if address else ""


def _more(block: Block) -> str:
    """What pass 2 found out."""
    if block.enrichment is None:
        return ""
    summary, keywords = block.enrichment.summary, block.enrichment.keywords
    told = [" / ".join(filter(None, (summary.ko, summary.en))), ", ".join((*keywords.ko, *keywords.en))]
    return "".join(f"<small>{escape(line)}</small>" for line in told if line)


def _line(text: str) -> str:
    return escape(" ".join(text.split()))
