"""The fonts that lines of other scripts are drawn in, all SIL OFL 1.1 or Apache-2.0: Fontsource's packages.

A package has a file for each script and one for Latin letters; a line takes from each file what it has. Their
tables of features stay: Arabic, Devanagari and Thai cannot be set without. Nothing of a font is shipped.
"""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from outlines import file_of, tables_of
from packages import from_npm, members

WEIGHTS = (400, 700)
UNUSED = (b"fpgm", b"prep", b"cvt ", b"gasp", b"DSIG", b"hdmx", b"VDMX", b"LTSH", b"FFTM")
PARTS = {"cyrillic": ("cyrillic", "cyrillic-ext")}
PRINT, POSTER = 3.0, 1.0  # shares: what books and reports are set in, and titles


@dataclass(frozen=True)
class ScriptFont:
    """A family and the scripts it is drawn in. `test`: kept for the test."""

    family: str
    scripts: str
    version: str = "5.3.0"
    share: float = PRINT
    test: bool = False


SOURCES = (
    ScriptFont("roboto", "cyrillic greek"),
    ScriptFont("noto-sans", "cyrillic greek devanagari"),
    ScriptFont("noto-serif", "cyrillic greek"),
    ScriptFont("open-sans", "cyrillic greek hebrew"),
    ScriptFont("source-sans-3", "cyrillic greek"),
    ScriptFont("source-serif-4", "cyrillic greek", "5.3.1"),
    ScriptFont("fira-sans", "cyrillic greek"),
    ScriptFont("pt-sans", "cyrillic"),
    ScriptFont("pt-serif", "cyrillic"),
    ScriptFont("eb-garamond", "cyrillic greek"),
    ScriptFont("tinos", "cyrillic greek hebrew"),
    ScriptFont("arimo", "cyrillic greek hebrew"),
    ScriptFont("cousine", "cyrillic greek hebrew", share=POSTER),
    ScriptFont("ubuntu", "cyrillic greek"),
    ScriptFont("jetbrains-mono", "cyrillic greek", share=POSTER),
    ScriptFont("literata", "cyrillic greek"),
    ScriptFont("inter", "cyrillic greek"),
    ScriptFont("gfs-didot", "greek"),
    ScriptFont("cardo", "greek hebrew"),
    ScriptFont("montserrat", "cyrillic", share=POSTER),
    ScriptFont("merriweather", "cyrillic"),
    ScriptFont("playfair-display", "cyrillic", share=POSTER),
    ScriptFont("old-standard-tt", "cyrillic"),
    ScriptFont("rubik", "cyrillic hebrew arabic", share=POSTER),
    ScriptFont("ibm-plex-sans", "cyrillic greek", test=True),
    ScriptFont("lora", "cyrillic", test=True),
    ScriptFont("alegreya", "greek", test=True),
    ScriptFont("noto-sans-arabic", "arabic"),
    ScriptFont("noto-naskh-arabic", "arabic"),
    ScriptFont("noto-kufi-arabic", "arabic", share=POSTER),
    ScriptFont("amiri", "arabic"),
    ScriptFont("cairo", "arabic"),
    ScriptFont("tajawal", "arabic"),
    ScriptFont("vazirmatn", "arabic"),
    ScriptFont("almarai", "arabic"),
    ScriptFont("scheherazade-new", "arabic"),
    ScriptFont("markazi-text", "arabic"),
    ScriptFont("el-messiri", "arabic"),
    ScriptFont("changa", "arabic", share=POSTER),
    ScriptFont("lateef", "arabic"),
    ScriptFont("mada", "arabic"),
    ScriptFont("ibm-plex-sans-arabic", "arabic", test=True),
    ScriptFont("harmattan", "arabic", test=True),
    ScriptFont("noto-sans-hebrew", "hebrew"),
    ScriptFont("noto-serif-hebrew", "hebrew"),
    ScriptFont("heebo", "hebrew"),
    ScriptFont("frank-ruhl-libre", "hebrew"),
    ScriptFont("assistant", "hebrew"),
    ScriptFont("alef", "hebrew"),
    ScriptFont("miriam-libre", "hebrew"),
    ScriptFont("secular-one", "hebrew", share=POSTER),
    ScriptFont("varela-round", "hebrew", share=POSTER),
    ScriptFont("ibm-plex-sans-hebrew", "hebrew", test=True),
    ScriptFont("david-libre", "hebrew", test=True),
    ScriptFont("noto-sans-devanagari", "devanagari"),
    ScriptFont("noto-serif-devanagari", "devanagari"),
    ScriptFont("hind", "devanagari"),
    ScriptFont("mukta", "devanagari"),
    ScriptFont("poppins", "devanagari"),
    ScriptFont("tiro-devanagari-hindi", "devanagari"),
    ScriptFont("baloo-2", "devanagari", share=POSTER),
    ScriptFont("laila", "devanagari"),
    ScriptFont("rajdhani", "devanagari", share=POSTER),
    ScriptFont("yantramanav", "devanagari"),
    ScriptFont("eczar", "devanagari"),
    ScriptFont("sarala", "devanagari", "5.0.20"),
    ScriptFont("halant", "devanagari"),
    ScriptFont("karma", "devanagari", "5.1.0"),
    ScriptFont("palanquin", "devanagari"),
    ScriptFont("kalam", "devanagari", share=POSTER),
    ScriptFont("ibm-plex-sans-devanagari", "devanagari", test=True),
    ScriptFont("martel", "devanagari", test=True),
    ScriptFont("noto-sans-thai", "thai"),
    ScriptFont("noto-serif-thai", "thai"),
    ScriptFont("noto-sans-thai-looped", "thai"),
    ScriptFont("sarabun", "thai"),
    ScriptFont("kanit", "thai"),
    ScriptFont("prompt", "thai"),
    ScriptFont("pridi", "thai"),
    ScriptFont("trirong", "thai"),
    ScriptFont("taviraj", "thai"),
    ScriptFont("niramit", "thai"),
    ScriptFont("chakra-petch", "thai", share=POSTER),
    ScriptFont("bai-jamjuree", "thai"),
    ScriptFont("k2d", "thai", "5.2.8"),
    ScriptFont("athiti", "thai", "5.2.8"),
    ScriptFont("itim", "thai", share=POSTER),
    ScriptFont("mitr", "thai"),
    ScriptFont("ibm-plex-sans-thai", "thai", test=True),
    ScriptFont("maitree", "thai", test=True),
)


def packed_fonts(out: Path, kept: Path) -> list[dict[str, Any]]:
    """Writes an archive of the font files; returns the faces: which files draw which script."""
    told, written = [], set()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        for source in SOURCES:
            held = members(from_npm(f"@fontsource/{source.family}@{source.version}", kept))
            for script in source.scripts.split():
                for weight in WEIGHTS:
                    files = _files(source, script, weight, held)
                    if not files:
                        continue
                    for name, content in files.items():
                        if name not in written:
                            packed.writestr(name, _bare(content))
                            written.add(name)
                    told.append(_told(source, script, list(files)))
    return told


def _told(source: ScriptFont, script: str, files: list[str]) -> dict[str, Any]:
    return {
        "family": source.family,
        "script": script,
        "files": files,
        "share": source.share,
        "test": source.test,
    }


def _files(source: ScriptFont, script: str, weight: int, held: dict[str, bytes]) -> dict[str, bytes]:
    """The files of one weight that draw a script, its own first and Latin last."""
    found = {}
    for part in (*PARTS.get(script, (script,)), "latin"):
        content = held.get(f"package/files/{source.family}-{part}-{weight}-normal.woff")
        if content is not None:
            found[f"{source.family}-{part}-{weight}.ttf"] = content
    return found if any(f"-{script}-" in name for name in found) else {}


def _bare(content: bytes) -> bytes:
    """A font file without hints."""
    return file_of({name: table for name, table in tables_of(content).items() if name not in UNUSED})
