"""The folder that a conversion keeps its inputs, pages and crops in, for as long as someone uses them."""

from __future__ import annotations

import os
import pickle
import shutil
import threading
import weakref
from dataclasses import replace
from pathlib import Path

from penstock.page import Page
from penstock.processes.scratch import scratch_folder
from penstock.region import Asset, Region
from penstock.store.atomic_files import store_errors


class Workspace:
    """A new folder. It is removed by `close`, when nothing refers to it any more, or at the process's end."""

    def __init__(self) -> None:
        self.path = scratch_folder("convert")
        self._remove = weakref.finalize(self, _remove, self.path, os.getpid())

    @property
    def is_closed(self) -> bool:
        return not self._remove.alive

    def close(self) -> None:
        self._remove()

    def keep(self, asset: Asset) -> Asset:
        """Writes a file unless it is there, and returns it without its bytes."""
        target = self.path / asset.path
        if asset.data is not None and not target.exists():
            with store_errors(target):
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(asset.data)
        return asset.stored()


def _remove(folder: Path, owner: int) -> None:
    if os.getpid() == owner:  # a fork has a copy of us, and the folder is not its own
        shutil.rmtree(folder, ignore_errors=True)


class PageSpool:
    """The pages of one document, in a file. Memory holds where each begins."""

    def __init__(self, workspace: Workspace, number: int) -> None:
        self._workspace = workspace
        self._path = workspace.path / f"pages-{number}"
        self._file = self._path.open("w+b")
        self._close = weakref.finalize(self, self._file.close)  # also where nobody calls close
        self._starts: list[int] = []
        self._lock = threading.Lock()  # a reading moves the file's position

    def __len__(self) -> int:
        return len(self._starts)

    def add(self, page: Page) -> None:
        """Appends a page; its crops become files."""
        regions = tuple(self._with_crop_file(region) for region in page.regions)
        raw = self._workspace.keep(page.raw_answer) if page.raw_answer is not None else None
        kept = replace(page, regions=regions, raw_answer=raw, image=None, pixels=None, layer=None)
        with self._lock, store_errors(self._path):
            self._starts.append(self._file.seek(0, os.SEEK_END))
            pickle.dump(kept, self._file, pickle.HIGHEST_PROTOCOL)
            self._file.flush()

    def __getitem__(self, place: int) -> Page:
        with self._lock:
            self._file.seek(self._starts[place])
            page: Page = pickle.load(self._file)  # ours: only this process writes in the workspace
        return page

    def close(self) -> None:
        self._close()

    def _with_crop_file(self, region: Region) -> Region:
        crop = region.crop
        return region if crop is None else replace(region, crop=self._workspace.keep(crop), request=None)
