"""Page pictures, made again from the sources for exports that show them.

OUT keeps rows and crops, not page images: they would be most of its size. Sources are opened in a
killable child like in any run; a page whose source is gone is left out with a sentence.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from penstock.child import Child
from penstock.errors import ItemError, UsageError
from penstock.item import Item
from penstock.stages.load import Give, Load
from penstock.store import manifest

if TYPE_CHECKING:
    from penstock.item import Pixels


def page_pictures(
    out: Path, items: Iterable[Item], password: str | None
) -> Iterator[tuple[Item, Pixels | str]]:
    """Each page with its picture as the run saw it, turned upright, or why there is none."""
    load = load_of(out, password)
    child: Child[list[Item], list[Item]] = Child(load.open, name="export")
    with child:
        for item in items:
            if item.failure is not None:
                yield item, item.failure.message
                continue
            bare = Item(id=item.id, uri=item.uri, document=item.document, part=item.part, media=item.media)
            try:
                [loaded] = child.call([bare], load.deadline_s)
            except ItemError as exc:
                yield item, str(exc)
                continue
            assert loaded.pixels is not None
            yield item, np.ascontiguousarray(np.rot90(loaded.pixels, k=-item.rotation // 90))


def load_of(out: Path, password: str | None, give: Give = "pixels") -> Load:
    """The load stage of the run, so that boxes fit the pictures."""
    run = manifest.read(out)
    if run is None:
        raise UsageError(f"{out} holds no run.", "Run: penstock parse INPUT -o OUT")
    settings: dict[str, Any] = next((row for row in run["plan"] if row["stage"] == "load"), {})
    known = {field.name for field in fields(Load)}
    chosen = {key: value for key, value in settings.items() if key in known}
    load = Load(**chosen, password=password)
    return replace(load, give=give, render="always", text_layer=False)
