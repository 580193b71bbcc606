"""Builds wheels that hold the built-in models, for machines that install packages and fetch nothing else.

    python tools/models_package.py dist

`penstock-models` has those that are used without being asked for, `penstock-models-photos` the two for photos
that are fetched by name. Penstock looks there where its cache has none. Files come from the cache, checked by
their hashes; run `penstock models fetch nanodet mobile-sam` first. The same models give the same bytes.
PP-DocLayoutV3 is in neither: it alone is larger than an index takes.
"""

from __future__ import annotations

import base64
import hashlib
import sys
import zipfile
from pathlib import Path

import penstock
from penstock.engines.weights.builtin import MODELS, BuiltinModel
from penstock.engines.weights.cache import PACKAGE, Check, look

MAX_BYTES = 100 * 1_000_000  # what the package index takes of one file
PARTS = {
    "penstock-models": ("documents", "handwriting", "photos"),
    "penstock-models-photos": ("detector", "outlines"),
}
METADATA = """Metadata-Version: 2.4
Name: {name}
Version: {version}
Summary: Models for penstock-pipeline, as their publishers made them.
License-Expression: {licences}
License-File: MODELS
Requires-Python: >=3.11
Project-URL: Homepage, https://github.com/penstock-pipeline/penstock
"""
WHEEL = "Wheel-Version: 1.0\nGenerator: penstock\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def main(folder: str) -> None:
    for name, groups in PARTS.items():
        made = build(name, [model for model in MODELS.values() if model.group in groups], Path(folder))
        print(f"{made.name}: {made.stat().st_size / 1e6:.1f} MB")


def build(name: str, models: list[BuiltinModel], folder: Path) -> Path:
    """Writes the wheel of these models. Exits with a sentence where one is missing or it is too large."""
    checks = [look(model, hashed=True) for model in models]
    if missing := [check.model.name for check in checks if check.state != "ready"]:
        raise SystemExit(f"{', '.join(missing)} missing. Run: penstock models fetch {' '.join(missing)}")
    stem = f"{name.replace('-', '_')}-{penstock.__version__}"
    files = {f"{PACKAGE}/{_place(check)}": _path(check).read_bytes() for check in checks}
    files |= {f"{stem}.dist-info/{file}": text.encode() for file, text in _facts(name, checks).items()}
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"{stem}-py3-none-any.whl"
    _write(target, files, f"{stem}.dist-info/RECORD")
    if target.stat().st_size > MAX_BYTES:
        raise SystemExit(f"{target} is larger than {MAX_BYTES:,} bytes. Make another part.")
    return target


def _place(check: Check) -> str:
    """Returns its place below the package, the same as in the cache: it says where the file came from."""
    assert check.origin is not None
    return f"{check.origin.folder}/{check.model.file}"


def _path(check: Check) -> Path:
    assert check.path is not None
    return check.path


def _facts(name: str, checks: list[Check]) -> dict[str, str]:
    licences = sorted({check.model.licence for check in checks})
    told = METADATA.format(name=name, version=penstock.__version__, licences=" AND ".join(licences))
    return {"METADATA": told, "WHEEL": WHEEL, "licenses/MODELS": "".join(map(_line, checks))}


def _line(check: Check) -> str:
    model, origin = check.model, check.origin
    assert origin is not None
    return f"{_place(check)}: {model.licence}, from {origin.package}, sha256 {model.sha256}\n"


def _write(target: Path, files: dict[str, bytes], record: str) -> None:
    lines = [f"{name},sha256={_digest(data)},{len(data)}" for name, data in files.items()]
    files[record] = "\n".join([*lines, f"{record},,", ""]).encode()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name)  # of 1980: the same models, the same bytes
            entry.external_attr = 0o644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


if __name__ == "__main__":
    main(sys.argv[1])
