"""Names crops so that people find them: `crops/doc_123_page_0_crop_2.jpg`, by page id and order.

The store keeps crops by content, in the same folder, and everything that identifies a block goes by that.
Names by page belong to the export: further names of the same files, which take no space where the file system
has hard links. So a run can be exported either way, again and again.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Literal, cast, get_args

from penstock.choices import check_choice
from penstock.page import Page
from penstock.region import Region
from penstock.sources.names.safe import safe_name
from penstock.store.atomic_files import replacing
from penstock.store.out import Out
from penstock.store.ownership import claim, remove

CropNames = Literal["content", "page"]
FOLDER = "crops"  # of the store, too: its names have 24 digits and no `_crop_`
log = logging.getLogger(__name__)


def check_crop_names(word: str) -> CropNames:
    """Raises UsageError for a way of naming that we do not know."""
    check_choice("--crop-names", word, get_args(CropNames))
    return cast(CropNames, word)


class CropsByPage:
    """Gives the crops of pages their names, and the names their files. Call `finish` after the last page."""

    def __init__(self, out: Out, page_ids: Iterable[str]) -> None:
        self._out = out
        self._stems = page_stems(page_ids)
        self._made: set[str] = set()

    def named(self, page: Page) -> Page:
        """Returns the page with its crops shown by their names, also in its Markdown."""
        regions = tuple(self._with_name(region, page) for region in page.regions)
        markdown = page.markdown
        for region in regions:
            if region.crop is not None and region.crop.shown:
                # equal pictures of a page have one content and several names: any of them shows it
                markdown = markdown.replace(region.crop.path, region.crop.shown)
        return replace(page, regions=regions, markdown=markdown)

    def finish(self) -> None:
        """Removes files of an earlier export that this one does not have."""
        for path in (self._out / FOLDER).glob("*_crop_*"):
            if path.name not in self._made:
                remove(self._out, path)

    def _with_name(self, region: Region, page: Page) -> Region:
        crop = region.crop
        if crop is None:
            return region
        ending = PurePosixPath(crop.path).suffix
        name = f"{self._stems[page.id]}_crop_{region.index}{ending}"
        if name not in self._made and not self._link(self._out / crop.path, self._out / FOLDER / name):
            log.warning("%s is not in %s: the crop %s is gone", name, FOLDER, crop.path)
            return region
        self._made.add(name)
        return replace(region, crop=replace(crop, shown=f"{FOLDER}/{name}"))

    def _link(self, crop: Path, path: Path) -> bool:
        """Makes `path` the same file as `crop`, or a copy of it. Returns False where there is no crop."""
        if not crop.is_file():
            return False
        claim(self._out, path, sync=False)
        if path.exists():
            if path.samefile(crop):
                return True
            remove(self._out, path)  # of an earlier export, of other content
        path.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(OSError):  # another file system, or one without links
            os.link(crop, path)
            return True
        with replacing(path, self._out, sync=False) as file:
            file.write(crop.read_bytes())
        return True


def page_stems(page_ids: Iterable[str]) -> dict[str, str]:
    """Returns a name for each page: its id as one path component that no two of them share on any system."""
    stems = {page_id: safe_name(page_id) for page_id in page_ids}
    count = Counter(stem.casefold() for stem in stems.values())
    return {
        page_id: stem if count[stem.casefold()] == 1 else f"{stem}-{_digest(page_id)}"
        for page_id, stem in stems.items()
    }


def _digest(page_id: str) -> str:
    return hashlib.sha256(page_id.encode("utf-8", "surrogateescape")).hexdigest()[:8]
