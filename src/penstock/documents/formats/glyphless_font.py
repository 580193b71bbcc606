"""A PDF font without shapes, for text that is found but not seen.

The font file is a TrueType font made here from its tables, with a narrow and a wide glyph. Each is
a single stroke of no area: readers measure glyphs to place text, and drop runs that measure nothing.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Mapping

CIDS = 0xFFFF  # character numbers a two-byte font can have
UNITS = 1000  # per em
NARROW, WIDE = 500, 1000  # widths of glyphs 1 and 2; glyph 0 is the one every font must have
ASCENT, DESCENT = 800, -200
PER_BLOCK = 100  # most mappings a block of a CMap may hold
NAME = b"Glyphless"


def font_objects(
    first: int, cids: Mapping[str, int], widths: Mapping[int, int]
) -> Iterator[tuple[int, bytes]]:
    """(number, body) of the six objects of the font, numbered from `first`; that one is the font."""
    descendant, descriptor, file, unicode_map, glyph_map = range(first + 1, first + 6)
    yield first, _type0(descendant, unicode_map)
    yield descendant, _cid_font(descriptor, glyph_map, widths)
    yield descriptor, _descriptor(file)
    data = font_file()
    yield file, _stream(b"/Length1 %d" % len(data), data)
    yield unicode_map, _stream(b"", _to_unicode(cids))
    glyphs = [0] * (max(cids.values(), default=0) + 1)
    for cid, width in widths.items():
        glyphs[cid] = 2 if width == WIDE else 1
    yield glyph_map, _stream(b"", struct.pack(f">{len(glyphs)}H", *glyphs))


def _type0(descendant: int, unicode_map: int) -> bytes:
    return (
        b"<< /Type /Font /Subtype /Type0 /BaseFont /%s /Encoding /Identity-H"
        b" /DescendantFonts [%d 0 R] /ToUnicode %d 0 R >>" % (NAME, descendant, unicode_map)
    )


def _cid_font(descriptor: int, glyph_map: int, widths: Mapping[int, int]) -> bytes:
    return (
        b"<< /Type /Font /Subtype /CIDFontType2 /BaseFont /%s"
        b" /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >>"
        b" /FontDescriptor %d 0 R /CIDToGIDMap %d 0 R /DW %d /W [%s] >>"
        % (NAME, descriptor, glyph_map, NARROW, _widths(widths))
    )


def _descriptor(file: int) -> bytes:
    return (
        b"<< /Type /FontDescriptor /FontName /%s /Flags 5 /FontBBox [0 %d %d %d] /ItalicAngle 0"
        b" /Ascent %d /Descent %d /CapHeight %d /StemV 80 /FontFile2 %d 0 R >>"
        % (NAME, DESCENT, UNITS, ASCENT, ASCENT, DESCENT, ASCENT, file)
    )


def _stream(entries: bytes, data: bytes) -> bytes:
    packed = zlib.compress(data)
    return b"<< %s /Filter /FlateDecode /Length %d >>\nstream\n%s\nendstream" % (entries, len(packed), packed)


def _widths(widths: Mapping[int, int]) -> bytes:
    """Only what differs from the default, as runs: `first last width`."""
    runs: list[list[int]] = []
    for cid, width in sorted(widths.items()):
        if width == NARROW:
            continue
        if runs and runs[-1][1] == cid - 1 and runs[-1][2] == width:
            runs[-1][1] = cid
        else:
            runs.append([cid, cid, width])
    return b" ".join(b"%d %d %d" % tuple(run) for run in runs)


def _to_unicode(cids: Mapping[str, int]) -> bytes:
    pairs = [
        b"<%04X> <%s>" % (cid, char.encode("utf-16-be", "surrogatepass").hex().upper().encode())
        for char, cid in sorted(cids.items(), key=lambda item: item[1])
    ]
    blocks = [pairs[i : i + PER_BLOCK] for i in range(0, len(pairs), PER_BLOCK)]
    mapped = b"\n".join(
        b"%d beginbfchar\n%s\nendbfchar" % (len(block), b"\n".join(block)) for block in blocks
    )
    return (
        b"/CIDInit /ProcSet findresource begin\n12 dict begin\nbegincmap\n"
        b"/CIDSystemInfo << /Registry (Adobe) /Ordering (UCS) /Supplement 0 >> def\n"
        b"/CMapName /Adobe-Identity-UCS def\n/CMapType 2 def\n"
        b"1 begincodespacerange\n<0000> <FFFF>\nendcodespacerange\n"
        + mapped
        + b"\nendcmap\nCMapName currentdict /CMap defineresource pop\nend\nend"
    )


def font_file() -> bytes:
    """Returns the smallest TrueType font readers accept."""
    narrow, wide = _stroke(NARROW), _stroke(WIDE)
    ends = (0, 0, len(narrow), len(narrow) + len(wide))
    box = (0, DESCENT, UNITS, ASCENT)
    return _sfnt(
        {
            b"cmap": struct.pack(">4HI", 0, 1, 3, 1, 12) + _empty_cmap(),
            b"glyf": narrow + wide,
            b"head": struct.pack(
                ">4IHHQQ4hHHhhh", 0x10000, 0x10000, 0, 0x5F0F3CF5, 0, UNITS, 0, 0, *box, 0, 8, 2, 0, 0
            ),
            b"hhea": struct.pack(
                ">I3hH11hH", 0x10000, ASCENT, DESCENT, 0, UNITS, 0, 0, UNITS, 1, *[0] * 7, 3
            ),
            b"hmtx": struct.pack(">HhHhHh", NARROW, 0, NARROW, 0, WIDE, 0),
            b"loca": struct.pack(">4H", *(end // 2 for end in ends)),
            b"maxp": struct.pack(">IH13H", 0x10000, 3, 2, 1, 0, 0, 1, *[0] * 8),
            b"name": struct.pack(">HHH", 0, 0, 6),
            b"post": struct.pack(">IIhhIIIII", 0x30000, 0, 0, 0, 1, 0, 0, 0, 0),
        }
    )


def _stroke(width: int) -> bytes:
    """Returns a contour of two points, corner to corner: a box to measure and nothing to fill."""
    header = struct.pack(">5h", 1, 0, DESCENT, width, ASCENT)
    return header + struct.pack(">HHBB4h", 1, 0, 1, 1, 0, width, DESCENT, ASCENT - DESCENT)


def _empty_cmap() -> bytes:
    """Returns a format 4 map with the one segment every map must end in, which leads to glyph 0."""
    return struct.pack(">12H", 4, 24, 0, 2, 2, 0, 0, 0xFFFF, 0, 0xFFFF, 1, 0)


def _sfnt(tables: Mapping[bytes, bytes]) -> bytes:
    count = len(tables)
    reach = 1 << (count.bit_length() - 1)
    directory = struct.pack(
        ">IHHHH", 0x10000, count, 16 * reach, reach.bit_length() - 1, 16 * (count - reach)
    )
    offset = len(directory) + 16 * count
    body = b""
    for tag, data in sorted(tables.items()):
        padded = data + b"\0" * (-len(data) % 4)
        checksum = sum(struct.unpack(f">{len(padded) // 4}I", padded)) & 0xFFFFFFFF
        directory += tag + struct.pack(">III", checksum, offset + len(body), len(data))
        body += padded
    return _with_checksum(directory + body, offset, tables)


def _with_checksum(font: bytes, offset: int, tables: Mapping[bytes, bytes]) -> bytes:
    """Writes the whole font's checksum into its head table, eight bytes in."""
    total = sum(struct.unpack(f">{len(font) // 4}I", font)) & 0xFFFFFFFF
    adjustment = struct.pack(">I", (0xB1B0AFBA - total) & 0xFFFFFFFF)
    head = offset + sum(len(d) + -len(d) % 4 for tag, d in sorted(tables.items()) if tag < b"head")
    return font[: head + 8] + adjustment + font[head + 12 :]
