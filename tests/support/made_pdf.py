"""Small PDFs written by hand, so that a test says exactly what is in its file."""

from __future__ import annotations

from collections.abc import Sequence

FONTS = (
    "<< /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> "
    "/F2 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica-BoldOblique >> >>"
)


def pdf(contents: Sequence[str], page: str = "/MediaBox [0 0 200 100]") -> bytes:
    """A PDF with one page for each content stream; `page` is added to every page's dictionary."""
    kids = " ".join(f"{3 + 2 * index} 0 R" for index in range(len(contents)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(contents)} >>",
    ]
    for index, content in enumerate(contents):
        stream = f"<< /Length {len(content)} >>\nstream\n{content}\nendstream"
        resources = f"/Resources << /Font {FONTS} >> /Contents {4 + 2 * index} 0 R"
        objects += [f"<< /Type /Page /Parent 2 0 R {page} {resources} >>", stream]
    return _with_table(objects)


def _with_table(objects: Sequence[str]) -> bytes:
    data, offsets = b"%PDF-1.7\n", []
    for number, body in enumerate(objects, 1):
        offsets.append(len(data))
        data += f"{number} 0 obj\n{body}\nendobj\n".encode("latin-1")
    table = "".join(f"{offset:010d} 00000 n \n" for offset in offsets)
    size = len(objects) + 1
    end = f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer\n<< /Size {size} /Root 1 0 R >>\n"
    return data + f"{end}startxref\n{len(data)}\n%%EOF\n".encode("latin-1")


def text(words: str, x: float = 20, y: float = 50, size: float = 10, font: str = "F1", mode: int = 0) -> str:
    return f"BT /{font} {size} Tf {mode} Tr {x} {y} Td ({words}) Tj ET"
