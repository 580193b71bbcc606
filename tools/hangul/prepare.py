"""Makes the folder that train.py reads: fonts, texts and words, all from public packages of fixed versions.

    python prepare.py OUT

Needs pip, npm and apt-get, numpy and kiwipiepy. OUT then holds `fonts.zip`, `fonts.json`
and `texts.json.xz`, 38 MB; packages are kept in OUT/../kept, so that a second time is quicker. The last line
is JSON with the sizes.
"""

from __future__ import annotations

import argparse
import json
import lzma
from pathlib import Path

from fonts import packed_fonts
from vocabulary import texts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--kept", type=Path, help="where fetched packages are kept")
    options = parser.parse_args()
    kept = options.kept or options.out.parent / "kept"
    for folder in (options.out, kept):
        folder.mkdir(parents=True, exist_ok=True)
    told = packed_fonts(options.out / "fonts.zip", kept)
    (options.out / "fonts.json").write_text(json.dumps(told, ensure_ascii=False, indent=0))
    found = texts(kept)
    content = json.dumps(found, ensure_ascii=False, indent=0).encode()
    (options.out / "texts.json.xz").write_bytes(lzma.compress(content))
    sizes = {file.name: file.stat().st_size for file in sorted(options.out.iterdir()) if file.is_file()}
    counts = {name: len(values) for name, values in found.items()}
    families = {font["family"] for font in told}
    print(json.dumps({"bytes": sizes, "texts": counts, "fonts": len(told), "families": len(families)}))


if __name__ == "__main__":
    main()
