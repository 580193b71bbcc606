"""Writes a document as one HTML page: the pictures of its pages with boxes over them.

Everything a document says is escaped, no script runs, and nothing is fetched from elsewhere: a hostile
page stays a picture and text.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from penstock.documents.docjson.model import Block, DocPage
from penstock.documents.formats.mineru import table_html
from penstock.documents.grounding.grid import GRID

_COLOURS = {
    "text_header": "#8e44ad",
    "text_section": "#2471a3",
    "text_paragraph": "#7f8c8d",
    "table": "#1e8449",
    "graph": "#ca6f1e",
    "diagram": "#b7950b",
    "complex_image": "#c0392b",
}
_RULES = "".join(f".{name}{{--c:{colour}}}" for name, colour in _COLOURS.items())
_STYLE = f"""
body{{margin:0;font:14px/1.5 system-ui,sans-serif;color:#222;background:#f4f4f2}}
header,nav{{padding:12px 20px;background:#fff;border-bottom:1px solid #ddd}}
nav span{{display:inline-block;margin-right:14px}}nav i{{display:inline-block;width:10px;height:10px;
margin-right:5px;background:var(--c)}}
section{{display:flex;gap:16px;padding:16px 20px;align-items:flex-start}}
.page{{position:sticky;top:8px;flex:0 0 52%;background:#fff;box-shadow:0 1px 4px #0003}}
.page img{{display:block;width:100%}}
.page a{{position:absolute;outline:1.5px solid var(--c);outline-offset:2px;
background:color-mix(in srgb,var(--c) 8%,transparent)}}
.page a b{{position:absolute;top:-3px;right:calc(100% + 5px);font:9px/1.2 system-ui;color:#fff;
background:var(--c);padding:1px 3px}}
.page a:hover,.page a:target{{background:color-mix(in srgb,var(--c) 30%,transparent)}}
.blocks{{flex:1;min-width:0}}.blocks div{{border-left:3px solid var(--c);background:#fff;
margin:0 0 8px;padding:4px 10px;overflow-wrap:anywhere;
white-space:pre-wrap}}.blocks div:target{{outline:2px solid var(--c)}}
.blocks small{{color:#777;display:block}}.blocks .furniture{{opacity:.6}}
.blocks table{{border-collapse:collapse;white-space:normal}}
.blocks td,.blocks th{{border:1px solid #bbb;padding:2px 6px}}.bad{{color:#b00}}
{_RULES}
@media (max-width:800px){{section{{display:block}}}}
"""
_POLICY = "default-src 'none'; img-src 'self'; style-src 'unsafe-inline'"


def opening(title: str) -> str:
    legend = "".join(f'<span class="{name}"><i></i>{name}</span>' for name in _COLOURS)
    return (
        f'<!doctype html><html><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head><body>'
        f"<header><strong>{escape(title)}</strong></header><nav>{legend}</nav>\n"
    )


CLOSING = "</body></html>\n"


def page_section(page: DocPage, blocks: Iterable[Block], picture: str) -> str:
    """Returns one page. `picture` is the address of its image, or "" where there is none."""
    rows = list(blocks)
    image = f'<img src="{escape(picture)}" alt="page {page.page_no}" loading="lazy">' if picture else ""
    shape = "" if picture else f' style="aspect-ratio:{max(page.width_px, 1)}/{max(page.height_px, 1)}"'
    note = f'<p class="bad">{escape(page.reason)}</p>' if page.reason else ""
    return (
        f'<section id="page-{page.page_no}"><div class="page"{shape}>{image}'
        + "".join(_box(block) for block in rows)
        + f'</div><div class="blocks"><small>page {page.page_no}, {page.status}</small>{note}'
        + "".join(_words(block) for block in rows)
        + "</div></section>\n"
    )


def _box(block: Block) -> str:
    x0, y0, x1, y1 = (100 * value / GRID for value in block.bbox.norm999)
    place = f"left:{x0:.2f}%;top:{y0:.2f}%;width:{x1 - x0:.2f}%;height:{y1 - y0:.2f}%"
    title = escape(f"{block.id} {block.category} {block.role}".strip())
    return (
        f'<a class="{block.category}" href="#{block.id}" style="{place}" title="{title}">'
        f"<b>{block.order}</b></a>"
    )


def _words(block: Block) -> str:
    table = block.table
    body = table_html(table) if table is not None and table.cells else escape(block.text)
    body = body or "<small>no text was read here</small>"
    enrichment = block.enrichment
    more = ""
    if enrichment is not None:
        summary = " / ".join(part for part in (enrichment.summary.ko, enrichment.summary.en) if part)
        words = ", ".join((*enrichment.keywords.ko, *enrichment.keywords.en))
        more = f"<small>{escape(summary)}</small><small>{escape(words)}</small>"
    role = f", {block.role}" if block.role else ""
    return (
        f'<div class="{block.category} {block.layer}" id="{block.id}">'
        f"<small>{block.order} {block.category}{role}</small>"
        f"{body}{more}</div>"
    )
