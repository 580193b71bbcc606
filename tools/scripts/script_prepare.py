"""Makes the folder that script_train.py reads: fonts and texts, all from public packages of fixed versions.

    PYTHONPATH=../hangul python script_prepare.py OUT

Needs pip, npm and numpy. OUT then holds `fonts.zip`, `fonts.json` and `texts.json.xz`; packages are kept in
OUT/../kept, so that a second time is quicker. The last line is JSON with the sizes.
"""

from __future__ import annotations

import argparse
import json
import lzma
from pathlib import Path

from script_fonts import packed_fonts
from script_sources import texts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--kept", type=Path, help="where fetched packages are kept")
    options = parser.parse_args()
    kept = options.kept or options.out.parent / "kept"
    for folder in (options.out, kept):
        folder.mkdir(parents=True, exist_ok=True)
    told = packed_fonts(options.out / "fonts.zip", kept)
    (options.out / "fonts.json").write_text(json.dumps(told, indent=0))
    found = texts(kept)
    content = json.dumps(found, ensure_ascii=False, indent=0).encode()
    (options.out / "texts.json.xz").write_bytes(lzma.compress(content))
    sizes = {file.name: file.stat().st_size for file in sorted(options.out.iterdir()) if file.is_file()}
    counts = {script: {kind: len(some) for kind, some in own.items()} for script, own in found.items()}
    families = {font["family"] for font in told}
    print(json.dumps({"bytes": sizes, "texts": counts, "faces": len(told), "families": len(families)}))


if __name__ == "__main__":
    main()
