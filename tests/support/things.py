"""A photo and a thing in it, with every field set."""

from __future__ import annotations

from dataclasses import replace

from penstock.photo import Photo, PhotoObject


def thing(index: int = 0, **changes: object) -> PhotoObject:
    made = PhotoObject(
        label="소파", kind="sofa", index=index, box=(1, 2, 30, 40), mask=b"mask", mask_path="masks/a.png",
        cloud=b"cloud", cloud_path="clouds/b.ply", num_gaussians=7, cut=("left",),
        colour_histogram=(0.5, 0.5),
        estimate="prior", size=(2.0, 0.9, 0.8), bbox_cbm=1.44, low_cbm=1.0, high_cbm=2.0, moving_cbm=1.4,
        distance=2.5, note="n",
    )  # fmt: skip
    return replace(made, **changes)  # type: ignore[arg-type]


def photo(name: str = "p", **changes: object) -> Photo:
    return replace(Photo(id=name, uri=f"{name}.jpg", document=f"{name}.jpg"), **changes)  # type: ignore[arg-type]
