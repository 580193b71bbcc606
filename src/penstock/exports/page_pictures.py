"""Page pictures, made again from the sources for exports that show them.

OUT keeps rows and crops, not page images: they would be most of its size. Sources are opened in a
killable child like in any run; a page whose source is gone is left out with a sentence.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from penstock.errors import ItemError, UsageError
from penstock.item import PictureItem
from penstock.processes.child import Child
from penstock.stages.load import Give, Load
from penstock.store.out import Out

if TYPE_CHECKING:
    from penstock.box import Pixels


Pictured = TypeVar("Pictured", bound=PictureItem)


def page_pictures(
    out: Out, items: Iterable[Pictured], password: str | None
) -> Iterator[tuple[Pictured, Pixels | str]]:
    """Yields each page or photo with its picture, or why there is none."""
    with PageRenderer(out, password) as pictures:
        for item in items:
            yield item, pictures.picture(item)


class PageRenderer:
    """Makes page pictures as the run saw them, turned upright. Not for several threads at once."""

    def __init__(self, out: Out, password: str | None = None) -> None:
        self._load = load_of(out, password)
        self._child: Child[list[PictureItem], list[PictureItem]] = Child(
            self._load.open, name="pictures", confined=True
        )

    def __enter__(self) -> PageRenderer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the process."""
        self._child.close()

    def picture(self, item: PictureItem) -> Pixels | str:
        """Returns the page's picture, or a sentence on why there is none."""
        if item.failure is not None:
            return item.failure.message
        bare = PictureItem(id=item.id, uri=item.uri, document=item.document, part=item.part, media=item.media)
        try:
            [loaded] = self._child.call([bare], self._load.deadline_s)
        except ItemError as exc:
            return str(exc)
        assert loaded.pixels is not None
        return np.ascontiguousarray(np.rot90(loaded.pixels, k=-item.rotation // 90))


def load_of(out: Out, password: str | None, give: Give = "pixels") -> Load:
    """Returns the load stage of the run, so that boxes fit the pictures."""
    run = out.run()
    if not run:
        raise UsageError(f"{out} holds no run.", "Run: penstock parse INPUT -o OUT")
    settings: dict[str, Any] = next((row for row in run["plan"] if row["stage"] == "load"), {})
    known = {field.name for field in fields(Load)}
    chosen = {key: value for key, value in settings.items() if key in known}
    load = Load(**chosen, password=password)
    return replace(load, give=give, render="always", text_layer=False)
