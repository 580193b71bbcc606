"""A web page, and the pictures that a browser saved with it: page.html and page_files/."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from urllib.parse import unquote

from penstock.engines.office.blocks import BlockFile, in_units
from penstock.engines.office.html_blocks import decoded_page, html_blocks, no_picture

BESIDE = ("_files", ".files", "_파일")  # what browsers add to a page's name for its folder
MAX_PICTURE_BYTES = 64 << 20
MAX_BYTES = 512 << 20  # of all pictures of a page


def read_saved_page(data: bytes, path: str) -> BlockFile:
    """Returns the page. Its pictures come from its own folder and from nowhere else."""
    return BlockFile(in_units(html_blocks(decoded_page(data), _SavedPictures(Path(path)).picture)))


class _SavedPictures:
    def __init__(self, page: Path) -> None:
        folders = (page.parent / f"{page.stem}{word}" for word in BESIDE)
        self._folder = next((each for each in folders if each.is_dir() and not each.is_symlink()), None)
        self._left = MAX_BYTES

    def picture(self, source: str) -> bytes:
        """Returns a picture by its address; nothing for what is elsewhere, or a link that leads elsewhere."""
        parts = PurePosixPath(unquote(source.partition("?")[0])).parts
        names = [part for part in parts if part != "."]
        if self._folder is None or len(names) < 2 or not names[0].endswith(BESIDE) or ".." in names:
            return no_picture(source)
        path = self._folder.joinpath(*names[1:])
        try:
            if not path.resolve().is_relative_to(self._folder.resolve()) or not path.is_file():
                return b""
            size = path.stat().st_size
            if size > min(MAX_PICTURE_BYTES, self._left):
                return b""
            self._left -= size
            return path.read_bytes()
        except (OSError, ValueError, RuntimeError):
            return b""
