"""HTML as a browser takes it, and EPUB 3 of such chapters."""

from __future__ import annotations

from base64 import b64encode
from html import escape

from penstock_eval.made_documents.formula import mathml
from penstock_eval.made_documents.tree import (
    Block,
    Display,
    Grid,
    ItemList,
    MadeDocument,
    MadeHeading,
    MadeItem,
    MadePicture,
    MadeRun,
    Paragraph,
)
from penstock_eval.made_documents.writers.archive import XML, zipped

STYLE = "body{font-family:sans-serif} td,th{border:1px solid #888;padding:2px 6px}"
CONTAINER = (
    '<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="OEBPS/content.opf" media-type="application/oebps-package+xml"/></rootfiles></container>'
)
XHTML = "http://www.w3.org/1999/xhtml"


def html_page(document: MadeDocument) -> bytes:
    """Returns one page; its pictures stand in it as data, as a saved page has them."""
    writer = _WebWriter(document, inline=True)
    body = "\n".join(map(writer.block, document.blocks))
    way = ' dir="rtl"' if document.is_rtl else ""
    title = next((block.text for block in document.blocks if isinstance(block, MadeHeading)), document.id)
    return (
        f'<!DOCTYPE html>\n<html lang="{document.language}"{way}>\n<head>\n<meta charset="utf-8">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        f"<main>\n{body}\n</main>\n</body>\n</html>\n"
    ).encode()


def epub(document: MadeDocument) -> bytes:
    """Returns a book; each heading of the first level begins a chapter."""
    writer = _WebWriter(document, inline=False)
    chapters: list[list[str]] = []
    for block in document.blocks:
        if not chapters or (isinstance(block, MadeHeading) and block.level == 1 and chapters[-1]):
            chapters.append([])
        chapters[-1].append(writer.block(block))
        if isinstance(block, Paragraph):
            chapters[-1] += writer.take_notes()
    names = [f"chapter{number:02}.xhtml" for number in range(1, len(chapters) + 1)]
    parts: dict[str, str | bytes] = {"META-INF/container.xml": XML + CONTAINER}
    parts["OEBPS/content.opf"] = _package_file(document, names, list(writer.pictures))
    parts["OEBPS/nav.xhtml"] = _navigation(document, names)
    for name, blocks in zip(names, chapters, strict=True):
        parts[f"OEBPS/{name}"] = _chapter(document, "\n".join(blocks))
    parts |= {f"OEBPS/{name}": data for name, data in writer.pictures.items()}
    return zipped(parts, "application/epub+zip")


class _WebWriter:
    def __init__(self, document: MadeDocument, *, inline: bool) -> None:
        self._inline = inline
        self._shift = document.heading_shift
        self.pictures: dict[str, bytes] = {}
        self._notes: list[str] = []
        self._count = 0

    def block(self, block: Block) -> str:
        if isinstance(block, MadeHeading):
            level = block.level + self._shift
            return f"<h{level}>{escape(block.text)}</h{level}>"
        if isinstance(block, Paragraph):
            return f"<p>{''.join(map(self._run, block.runs))}</p>"
        if isinstance(block, ItemList):
            return _list(block.items, "ol" if block.is_numbered else "ul")
        if isinstance(block, Grid):
            return _table(block)
        if isinstance(block, MadePicture):
            return self._figure(block)
        assert isinstance(block, Display)
        return f"<p>{mathml(block.formula, is_display=True)}</p>"

    def take_notes(self) -> list[str]:
        notes, self._notes = self._notes, []
        return notes

    def _run(self, run: MadeRun) -> str:
        if run.formula is not None:
            return mathml(run.formula)
        words = escape(run.text)
        if run.address:
            return f'<a href="{escape(run.address)}">{words}</a>'
        if run.footnote:
            self._count += 1
            id = f"note{self._count}"
            self._notes.append(f'<aside epub:type="footnote" id="{id}"><p>{escape(run.footnote)}</p></aside>')
            return f'{words}<a epub:type="noteref" href="#{id}">{self._count}</a>'
        return f"<strong>{words}</strong>" if run.is_bold else words

    def _figure(self, picture: MadePicture) -> str:
        source = f"picture{len(self.pictures) + 1}.png"
        self.pictures[source] = picture.data
        if self._inline:
            source = "data:image/png;base64," + b64encode(picture.data).decode()
        caption = f"<figcaption>{escape(picture.caption)}</figcaption>" if picture.caption else ""
        return f'<figure><img src="{source}" alt="{escape(picture.words)}"/>{caption}</figure>'


def _list(items: tuple[MadeItem, ...], tag: str) -> str:
    rows = (f"<li>{escape(item.text)}{_list(item.items, tag) if item.items else ''}</li>" for item in items)
    return f"<{tag}>{''.join(rows)}</{tag}>"


def _table(grid: Grid) -> str:
    rows: list[list[str]] = [[] for _ in range(grid.height)]
    for cell in grid.cells:
        tag = "th" if cell.row < grid.head_rows else "td"
        spans = f' rowspan="{cell.tall}"' if cell.tall > 1 else ""
        spans += f' colspan="{cell.wide}"' if cell.wide > 1 else ""
        inner = "<br/>".join(map(escape, cell.shown)) + (_table(cell.table) if cell.table else "")
        rows[cell.row].append(f"<{tag}{spans}>{inner}</{tag}>")
    written = [f"<tr>{''.join(row)}</tr>" for row in rows]
    head, body = "".join(written[: grid.head_rows]), "".join(written[grid.head_rows :])
    return f"<table><thead>{head}</thead><tbody>{body}</tbody></table>"


def _chapter(document: MadeDocument, body: str) -> str:
    way = ' dir="rtl"' if document.is_rtl else ""
    return (
        f'{XML}<!DOCTYPE html>\n<html xmlns="{XHTML}" xmlns:epub="http://www.idpf.org/2007/ops" '
        f'xml:lang="{document.language}"{way}>\n<head><title>{document.id}</title></head>\n'
        f"<body>\n{body}\n</body>\n</html>\n"
    )


def _navigation(document: MadeDocument, names: list[str]) -> str:
    rows = "".join(f'<li><a href="{name}">{number}</a></li>' for number, name in enumerate(names, start=1))
    return _chapter(document, f'<nav epub:type="toc"><ol>{rows}</ol></nav>')


def _package_file(document: MadeDocument, names: list[str], pictures: list[str]) -> str:
    kind = "application/xhtml+xml"
    items = [f'<item id="nav" href="nav.xhtml" media-type="{kind}" properties="nav"/>']
    items += [f'<item id="c{n}" href="{name}" media-type="{kind}"/>' for n, name in enumerate(names)]
    items += [f'<item id="p{n}" href="{name}" media-type="image/png"/>' for n, name in enumerate(pictures)]
    spine = "".join(f'<itemref idref="c{number}"/>' for number in range(len(names)))
    return (
        f'{XML}<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id">'
        '<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">'
        f'<dc:identifier id="id">urn:made:{document.id}</dc:identifier><dc:title>{document.id}</dc:title>'
        f"<dc:language>{document.language}</dc:language>"
        '<meta property="dcterms:modified">2024-01-02T03:04:06Z</meta></metadata>'
        f"<manifest>{''.join(items)}</manifest><spine>{spine}</spine></package>"
    )
