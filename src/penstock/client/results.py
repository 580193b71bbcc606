"""What a service's JSON says, as the types that the Python API gives: pages, photos, hits.

A service gives boxes on a grid of 1000 by 1000: those of pages are good to a thousandth of the page.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from penstock.box import Box
from penstock.client.connection import ServiceError
from penstock.errors import Failure
from penstock.page import Page, ReaderChoice
from penstock.photo import Photo, PhotoObject
from penstock.region import Asset, CellPlace, FormField, Line, Link, Region, Signals
from penstock.retrieval.hits import Hit

GRID = 1000


@dataclass(frozen=True, slots=True)
class ServiceDocument:
    """One document that a service read. A failed page has `failure` set."""

    name: str
    pages: tuple[Page, ...]

    @property
    def markdown(self) -> str:
        return "\n\n".join(page.markdown for page in self.pages if page.markdown)

    @property
    def failures(self) -> list[tuple[int, Failure]]:
        """The pages that could not be read: their numbers, and why."""
        return [(page.number, page.failure) for page in self.pages if page.failure is not None]


@dataclass(frozen=True, slots=True)
class VolumeSum:
    """Cubic metres of several things, and a range that holds 8 of 10 such sums."""

    cbm: float
    low: float
    high: float
    unsure: bool


@dataclass(frozen=True, slots=True)
class PhotoResults:
    """What a service measured: every photo, what its things are in all, and what movers count."""

    photos: tuple[Photo, ...]
    total: VolumeSum
    moving: VolumeSum


def decoded(text: bytes) -> Any:
    """Returns what the JSON holds. Raises ServiceError for what is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as exc:
        raise ServiceError("The service answered with what is no JSON.") from exc


def documents_in(result: bytes) -> list[ServiceDocument]:
    """Returns the documents of a job's result. Raises ServiceError for what holds none."""
    answer = decoded(result)
    try:
        return [ServiceDocument(one["name"], tuple(map(_page, one["pages"]))) for one in answer["documents"]]
    except (AttributeError, KeyError, TypeError, ValueError) as exc:
        raise ServiceError("The service answered with what are no pages.") from exc


def photos_in(result: bytes) -> PhotoResults:
    """Returns the photos of a job's result. Raises ServiceError for what holds none."""
    answer = decoded(result)
    try:
        sums = [VolumeSum(**_known(VolumeSum, answer[name])) for name in ("total", "moving")]
        return PhotoResults(tuple(map(_photo, answer["photos"])), *sums)
    except (AttributeError, KeyError, TypeError, ValueError) as exc:
        raise ServiceError("The service answered with what are no photos.") from exc


def hits_in(rows: Iterable[Mapping[str, Any]]) -> list[Hit]:
    """Returns what a search found. Raises ServiceError for what is none."""
    try:
        return [_hit(row) for row in rows]
    except (AttributeError, KeyError, TypeError, ValueError) as exc:
        raise ServiceError("The service answered with what are no pages that were found.") from exc


def _hit(row: Mapping[str, Any]) -> Hit:
    sources = {name: (int(rank), float(score)) for name, (rank, score) in row["sources"].items()}
    box = row.get("box")
    exact = {"sources": sources, "pages": tuple(row["pages"]), "box": box and tuple(box)}
    return Hit(**{**_known(Hit, row), **exact})


def _picture(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "id": row["page_id"],
        "uri": "",
        "document": row["document"],
        "part": row["page_idx"],
        "width": row["width"],
        "height": row["height"],
        "rotation": row["rotation"],
        "failure": _failure(row),
    }


def _page(row: Mapping[str, Any]) -> Page:
    size = row["width"] / GRID, row["height"] / GRID
    regions = tuple(_region(one, *size) for one in row["regions"])
    notes = {name: row.get(name, "") for name in ("flattened", "layer_fault", "layout")}
    choice = ReaderChoice(**row["choice"]) if row.get("choice") else None
    form = tuple(_form_field(one, *size) for one in row.get("form", ()))
    return Page(**_picture(row), regions=regions, markdown=row["markdown"], choice=choice, form=form, **notes)


def _form_field(row: Mapping[str, Any], across: float, down: float) -> FormField:
    return FormField(row["name"], row["label"], row["text"], _off_grid(row["bbox_2d"], across, down))


def _off_grid(box: Sequence[float], across: float, down: float) -> Box:
    x0, y0, x1, y1 = box
    return x0 * across, y0 * down, x1 * across, y1 * down


def _region(row: Mapping[str, Any], across: float, down: float) -> Region:
    return Region(
        label=row["label"],
        box=_off_grid(row["bbox_2d"], across, down),
        index=row["index"],
        native_label=row["native_label"],
        score=row["score"],
        content=row["content"],
        confidence=row["confidence"],
        reader=row["reader"],
        lines=tuple(map(_line, row.get("lines", ()))),
        cells=tuple(map(_cell, row.get("cells", ()))),
        signals=_signals(row.get("signals")),
        links=tuple(Link(**_known(Link, link)) for link in row.get("links", ())),
        polygon=tuple((x, y) for x, y in row.get("polygon", ())),
        crop=Asset(path=row["crop"]) if "crop" in row else None,
        note=row.get("note", ""),
        failure=_failure(row),
    )


def _line(row: Mapping[str, Any]) -> Line:
    exact = {"box": tuple(row["bbox"]), "words": tuple(row.get("words", ()))}
    return Line(**{**_known(Line, row), **exact})


def _cell(row: Mapping[str, Any]) -> CellPlace:
    x0, y0, x1, y1 = row["bbox"]
    return CellPlace(row["row"], row["column"], (x0, y0, x1, y1), row["confidence"], row.get("other", ""))


def _signals(row: Mapping[str, Any] | None) -> Signals | None:
    return Signals(**{**_known(Signals, row), "marks": tuple(row.get("marks", ()))}) if row else None


def _photo(row: Mapping[str, Any]) -> Photo:
    return Photo(**_picture(row), objects=tuple(map(_thing, row["objects"])))


def _thing(row: Mapping[str, Any]) -> PhotoObject:
    low, high = row["range_cbm"]
    size, pose = row["size_m"], row["pose"]
    exact = {
        "box": tuple(row["box"]),
        "cut": tuple(row["cut_by_frame"]),
        "mask_path": row["mask"],
        "cloud_path": row["ply"],
        "mesh_path": row["glb"],
        "size": size and (size["width"], size["depth"], size["height"]),
        "distance": row["distance_m"],
        "position": pose and tuple(pose["position_m"]),
        "rotation": pose and tuple(pose["rotation_wxyz"]),
        "low_cbm": low,
        "high_cbm": high,
        "measurement_notes": tuple(row["measurement_notes"]),
        "failure": _failure(row),
    }
    return PhotoObject(**{**_known(PhotoObject, row), **exact})


def _failure(row: Mapping[str, Any]) -> Failure | None:
    failure = row.get("failure")
    return None if failure is None else Failure(**_known(Failure, failure))


def _known(kind: type[Any], row: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the values that the type has fields for: a newer service may say more."""
    return {field.name: row[field.name] for field in fields(kind) if field.name in row}
