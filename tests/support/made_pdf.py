"""Small PDFs written by hand, so that a test says exactly what is in its file."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

FONTS = (
    "<< /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> "
    "/F2 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica-BoldOblique >> >>"
)


def pdf(
    contents: Sequence[str],
    page: str = "/MediaBox [0 0 200 100]",
    fonts: str = FONTS,
    streams: Sequence[str] = (),
) -> bytes:
    """A PDF with one page for each content stream; `page` is added to every page's dictionary.

    Other streams follow the pages: after one page the first is object 5.
    """
    kids = " ".join(f"{3 + 2 * index} 0 R" for index in range(len(contents)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(contents)} >>",
    ]
    for index, content in enumerate(contents):
        resources = f"/Resources << /Font {fonts} >> /Contents {4 + 2 * index} 0 R"
        objects += [f"<< /Type /Page /Parent 2 0 R {page} {resources} >>", _stream(content)]
    return _with_table([*objects, *map(_stream, streams)])


def form(content: str, fields: Sequence[tuple[str, str]]) -> bytes:
    """A PDF of one page with a form: each field is what its dictionary says, and its rectangle in points."""
    numbers = range(7, 7 + len(fields))
    ends = " ".join(f"{number} 0 R" for number in numbers)
    objects = [
        "<< /Type /Catalog /Pages 2 0 R /AcroForm 5 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 100] "
        f"/Resources << /Font {FONTS} >> /Contents 4 0 R /Annots [{ends}] >>",
        _stream(content),
        f"<< /Fields [{ends}] /DR << /Font {FONTS} >> /DA (/F1 10 Tf 0 g) >>",
        "<< /Type /XObject /Subtype /Form /BBox [0 0 10 10] /Length 0 >>\nstream\n\nendstream",
    ]
    for number, (about, rectangle) in zip(numbers, fields, strict=True):
        objects.append(f"<< /Type /Annot /Subtype /Widget /T (f{number}) {about} /Rect [{rectangle}] >>")
    return _with_table(objects)


def _stream(content: str) -> str:
    return f"<< /Length {len(content)} >>\nstream\n{content}\nendstream"


def locked_pdf(password: str) -> bytes:
    """A PDF of one blank page that only `password` opens (standard handler, RC4 of 40 bits)."""
    identity, rights = bytes(16), (-4).to_bytes(4, "little", signed=True)
    owner = _rc4(hashlib.md5(_padded("owner")).digest()[:5], _padded(password))
    key = hashlib.md5(_padded(password) + owner + rights + identity).digest()[:5]
    user = _rc4(key, _PADDING)
    handler = f"<< /Filter /Standard /V 1 /R 2 /P -4 /O <{owner.hex()}> /U <{user.hex()}> >>"
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 100] >>",
    ]
    return _with_table(objects, f"/Encrypt {handler} /ID [<{identity.hex()}> <{identity.hex()}>]")


# ISO 32000-1, algorithm 2: what a password is filled up with
_PADDING = bytes.fromhex("28bf4e5e4e758a4164004e56fffa01082e2e00b6d0683e802f0ca9fe6453697a")


def _padded(password: str) -> bytes:
    return (password.encode("latin-1") + _PADDING)[:32]


def _rc4(key: bytes, data: bytes) -> bytes:
    state, j = list(range(256)), 0
    for i in range(256):
        j = (j + state[i] + key[i % len(key)]) % 256
        state[i], state[j] = state[j], state[i]
    out, i, j = bytearray(), 0, 0
    for byte in data:
        i = (i + 1) % 256
        j = (j + state[i]) % 256
        state[i], state[j] = state[j], state[i]
        out.append(byte ^ state[(state[i] + state[j]) % 256])
    return bytes(out)


def _with_table(objects: Sequence[str], trailer: str = "") -> bytes:
    data, offsets = b"%PDF-1.7\n", []
    for number, body in enumerate(objects, 1):
        offsets.append(len(data))
        data += f"{number} 0 obj\n{body}\nendobj\n".encode("latin-1")
    table = "".join(f"{offset:010d} 00000 n \n" for offset in offsets)
    size = len(objects) + 1
    end = f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer\n<< /Size {size} /Root 1 0 R {trailer} >>\n"
    return data + f"{end}startxref\n{len(data)}\n%%EOF\n".encode("latin-1")


def text(words: str, x: float = 20, y: float = 50, size: float = 10, font: str = "F1", mode: int = 0) -> str:
    return f"BT /{font} {size} Tf {mode} Tr {x} {y} Td ({words}) Tj ET"
