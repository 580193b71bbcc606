"""Writes a document as one HTML page: an article to read, and on request its pages with boxes next to it.

Everything a document says is escaped, no script runs, and nothing is fetched from elsewhere: a hostile
page stays a picture and text. The button is a checkbox, and what it shows is decided by the style alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape

from penstock.documents.docjson.model import Block, DocPage
from penstock.documents.formats.article import PLAIN_WORDS, article_html, plain_word
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
*{{box-sizing:border-box}}
body{{margin:0;font:17px/1.6 Georgia,"Noto Serif CJK KR","Nanum Myeongjo",serif;color:#222;background:#fff;
overflow-wrap:break-word;word-break:keep-all}}
header,nav,label,.no,small{{font-family:system-ui,sans-serif}}
header{{padding:14px 20px;border-bottom:1px solid #ddd;background:#fafaf8;overflow-wrap:anywhere}}
#with-pages{{position:absolute;opacity:0}}
label{{position:sticky;top:0;z-index:2;display:block;padding:8px 20px;font-size:14px;cursor:pointer;
background:#fafaf8;border-bottom:1px solid #ddd;color:#2471a3}}
#with-pages:focus-visible~label{{outline:2px solid #2471a3;outline-offset:-2px}}
label .off,#with-pages:checked~label .on,nav,.page{{display:none}}
#with-pages:checked~label .off{{display:inline}}
#with-pages:checked~nav{{display:block}}
nav{{padding:8px 20px;font-size:13px;border-bottom:1px solid #ddd}}
nav span{{display:inline-block;margin-right:14px}}
nav i{{display:inline-block;width:10px;height:10px;margin-right:5px;background:var(--c)}}
section{{max-width:44rem;margin:0 auto;padding:0 20px}}
.no{{margin:1.6em 0 .8em;font-size:12px;color:#767676;border-top:1px solid #e4e4e0;padding-top:4px}}
section:first-of-type .no{{border-top:0}}
h1,h2,h3,h4,h5,h6{{line-height:1.25;margin:1.3em 0 .5em}}h1{{font-size:1.8em}}h2{{font-size:1.35em}}
h3{{font-size:1.15em}}h4,h5,h6{{font-size:1em}}p{{margin:.7em 0}}ul,ol{{padding-left:1.6em;margin:.7em 0}}
pre{{white-space:pre-wrap;background:#f6f6f4;padding:10px 12px;font-size:14px;line-height:1.45}}
figure{{margin:1.4em 0}}figure img,.formula img{{max-width:100%;height:auto;display:block}}
figcaption,.caption{{font-size:.86em;color:#555;margin:.4em 0}}.footnote,.reference{{font-size:.86em}}
.formula{{text-align:center}}.formula img{{margin:auto}}
figure small{{display:block;color:#666;font-size:13px}}
.wide{{overflow-x:auto}}table{{border-collapse:collapse;font-size:.86em;line-height:1.4}}
td,th{{border:1px solid #c8c8c4;padding:3px 8px;text-align:left;vertical-align:top}}th{{background:#f6f6f4}}
:target{{outline:2px solid #2471a3;outline-offset:3px}}.bad{{color:#b00}}
.page{{position:relative;background:#fff;box-shadow:0 1px 4px #0004}}.page img{{display:block;width:100%}}
.page a{{position:absolute;outline:1.5px solid var(--c);outline-offset:2px;
background:color-mix(in srgb,var(--c) 8%,transparent)}}
.page a:hover{{background:color-mix(in srgb,var(--c) 30%,transparent)}}
.page a b{{position:absolute;top:-3px;right:calc(100% + 5px);font:9px/1.2 system-ui;color:#fff;
background:var(--c);padding:1px 3px}}
#with-pages:checked~section .page{{display:block;margin:8px 0}}
@media (min-width:900px){{#with-pages:checked~section{{max-width:none;display:grid;gap:0 28px;
grid-template-columns:minmax(0,1fr) minmax(0,1fr);align-items:start}}
#with-pages:checked~section .page{{position:sticky;top:48px}}}}
@media (max-width:480px){{body{{font-size:16px}}
section,header,label,nav{{padding-left:14px;padding-right:14px}}
h1{{font-size:1.5em}}.page a b{{display:none}}}}
@media print{{label{{display:none}}body{{font-size:11pt}}figure,table,pre{{break-inside:avoid}}
h1,h2,h3{{break-after:avoid}}section{{max-width:none;padding:0}}}}
{_RULES}
"""
_POLICY = "default-src 'none'; img-src 'self' file:; style-src 'unsafe-inline'"


def opening(title: str) -> str:
    legend = "".join(f'<span class="{name}"><i></i>{PLAIN_WORDS[name]}</span>' for name in _COLOURS)
    return (
        f'<!doctype html><html><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{_STYLE}</style></head>'
        f"<body><header><strong>{escape(title)}</strong></header>"
        '<input type="checkbox" id="with-pages"><label for="with-pages">'
        '<span class="on">Show the pages</span>'
        f'<span class="off">Hide the pages</span></label><nav>{legend}</nav>\n'
    )


CLOSING = "</body></html>\n"
_NO_PICTURES: Mapping[str, str] = {}


def page_section(
    page: DocPage, blocks: Iterable[Block], picture: str, crops: Mapping[str, str] = _NO_PICTURES
) -> str:
    """Returns one page. `picture` is the address of its image, or "" where there is none.

    `crops` are addresses of pictures cut out of it, by the ids of their assets.
    """
    rows = list(blocks)
    image = f'<img src="{escape(picture)}" alt="page {page.page_no}" loading="lazy">' if picture else ""
    shape = "" if picture else f' style="aspect-ratio:{max(page.width_px, 1)}/{max(page.height_px, 1)}"'
    note = f'<p class="bad">{escape(page.reason)}</p>' if page.reason else ""
    status = "" if page.status == "ok" else f", {page.status}"
    return (
        f'<section id="page-{page.page_no}"><div class="page"{shape}>{image}'
        + "".join(_box(block) for block in rows)
        + f'</div><article><p class="no">page {page.page_no}{status}</p>{note}'
        + article_html(rows, crops)
        + "</article></section>\n"
    )


def _box(block: Block) -> str:
    x0, y0, x1, y1 = (100 * value / GRID for value in block.bbox.norm999)
    place = f"left:{x0:.2f}%;top:{y0:.2f}%;width:{x1 - x0:.2f}%;height:{y1 - y0:.2f}%"
    return (
        f'<a class="{block.category}" href="#{block.id}" style="{place}" title="{escape(plain_word(block))}">'
        f"<b>{block.order}</b></a>"
    )
