"""Folders for the web page to show (a sample with an index, a hostile page, 1,000 pages), and a visit."""

from __future__ import annotations

from pathlib import Path

import penstock
from penstock.page import Page
from penstock.region import Region
from penstock.store.ledger import ShardWriter
from penstock.store.schema import PAGES
from tests.support.browser import Browser
from tests.support.made_pdf import pdf
from tests.support.running_service import SAMPLE, Client

EVIL = (
    "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\"> [x](javascript:1)"
)
EVIL_NAME = "\"><img src=x onerror=document.title='owned'>.pdf"
EVIL_LABELS = ("doc_title", "text", "algorithm", "content", "display_formula", "image", "constructor")
FORMULA_NAME = "formulas.pdf"
FORMULAS = (
    r"$$ P = \eta \rho g Q \left( H - \frac{f L v^{2}}{2 g D} \right) + \sum_{i=1}^{n} \sqrt[3]{x_i} $$",
    r"\text{<img src=x onerror=document.title='owned'>} \in \mathbb{R}",
    r"\begin{unheardof} x \end{unheardof}",
)
LONG, NUM_LONG = "long.pdf", 1000


def read_sample(out: Path) -> None:
    """The sample, read by rules, that can be searched."""
    for _ in penstock.parse(SAMPLE, out=out, layout="rules"):
        pass
    penstock.index(out)


def add_hostile_page(out: Path) -> None:
    """A page whose every word wants to be markup, in a document whose name does, too."""
    parts = [
        Region(label=label, box=(0, 30 * n, 90, 30 * n + 20), content=EVIL, index=n)
        for n, label in enumerate(EVIL_LABELS)
    ]
    table = (
        f"<table onclick=\"document.title='owned'\"><tr><td colspan=2 onmouseover=\"document.title='owned'\">"
        f'<a href="javascript:document.title=1">link</a>{EVIL}</td></tr></table>'
    )
    parts.append(Region(label="table", box=(0, 250, 90, 290), content=table, index=len(parts)))
    _write(
        out,
        [
            Page(
                id="evil/0",
                uri="no.pdf",
                document=EVIL_NAME,
                part=0,
                width=99,
                height=299,
                regions=tuple(parts),
            )
        ],
    )


def add_formulas(out: Path) -> None:
    """A page of formulas: one is understood, one hides markup in its words, one nobody knows."""
    parts = [
        Region(label="display_formula", box=(10, 60 * n, 380, 60 * n + 50), content=latex, index=n)
        for n, latex in enumerate(FORMULAS)
    ]
    page = Page(
        id="f/0", uri="no.pdf", document=FORMULA_NAME, part=0, width=400, height=200, regions=tuple(parts)
    )
    _write(out, [page])


def add_long_document(out: Path, folder: Path) -> None:
    """1,000 pages as a run leaves them, over a PDF that is really that long."""
    path = folder / LONG
    path.write_bytes(pdf([f"BT /F1 24 Tf 10 40 Td (Page {n + 1}) Tj ET" for n in range(NUM_LONG)]))
    region = Region(label="text", box=(10, 40, 180, 80), index=0)
    _write(out, [
        Page(id=f"long/{n:05d}", uri=str(path), media="pdf", document=LONG, part=n, width=400, height=200,
             regions=(Region(label="text", box=region.box, content=f"Page {n + 1}"),))
        for n in range(NUM_LONG)
    ])  # fmt: skip


def _write(out: Path, pages: list[Page]) -> None:
    writer = ShardWriter(out, PAGES)
    for page in pages:
        writer.add(page)
    writer.commit()


def visit(browser: Browser, client: Client, address: str = "") -> None:
    """Opens the page as someone new, with nothing kept in the browser."""
    browser.open(client.url + "/health")  # of the same origin: what an earlier test kept can be forgotten
    browser.ask("localStorage.clear(); sessionStorage.clear()")
    browser.open(f"{client.url}/{address}")
