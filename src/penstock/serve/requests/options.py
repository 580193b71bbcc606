"""The options a client may give: those of the command line that name no server, key or file of ours."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from penstock.serve.errors import HttpRefusal


def _words(value: Any) -> Any:
    """Reads "ko,en" as a list, as the command line does; so does a field that is sent twice."""
    given = value if isinstance(value, list | tuple) else [value]
    return [
        word for one in given for word in (one.replace(",", " ").split() if isinstance(one, str) else [one])
    ]


def _lines(value: Any) -> Any:
    return value if isinstance(value, list | tuple) else [value]


Words = Annotated[list[str], BeforeValidator(_words)]
Lines = Annotated[list[str], BeforeValidator(_lines)]


CALLBACK = "callback"
CallbackAddress = Annotated[
    str | None,
    Field(
        max_length=2000,
        description="An address that gets a POST when the job is over, of a host the operator allows.",
    ),
]


class ParseRequest(BaseModel):
    """How documents are read. What is left out is as the service was started."""

    model_config = ConfigDict(extra="forbid", protected_namespaces=())

    pages: str | None = Field(
        None, description="Pages of each document, from 1: 3-9 or 1,4,7-.", max_length=1000
    )
    max_pages: int | None = Field(None, ge=1, description="Read no more pages of one document.")
    dpi: int | None = Field(None, ge=36, le=600, description="Resolution PDF pages are rendered at.")
    lang: Words | None = Field(None, description="Languages: ko, en, ja, ...", max_length=20)
    layout: Literal["model", "rules", "auto", "pp-doclayoutv3", "cdla"] | None = Field(
        None, description="How regions are found."
    )
    layout_threshold: float | str | None = Field(None, description="Of all classes, or class=0.4,...")
    layout_merge: str | None = Field(
        None, description="Of boxes inside boxes keep the large, small or all (union); or by class."
    )
    layout_unclip: float | str | None = Field(
        None, description="Grow boxes by a factor: 1.02, width x height: 1.1x1.0; or by class."
    )
    layout_nms: bool | None = Field(None, description="Drop regions that were found twice.")
    text_layer: Literal["auto", "always", "never"] | None = Field(
        None, description="Whether a PDF's own text is used."
    )
    flatten: Literal["auto", "off", "always"] | None = Field(
        None, description="Whether photographs of pages are made flat."
    )
    effort: Literal["fast", "balanced", "best"] | None = Field(
        None, description="What reading a picture may cost."
    )
    crops: bool | None = Field(None, description="Keep crops of pictures.")
    password: str | None = Field(None, description="Of encrypted PDFs; forgotten when the job is over.")
    margins: Literal["drop", "read"] | None = Field(None, description="Headers, footers, page numbers.")
    text_height: float | None = Field(None, ge=8, description="Scale regions to print this high, in pixels.")
    polygons: bool | None = Field(None, description="Cut regions along their outlines.")
    resolution: str | None = Field(
        None, description="grounded: tiny, small, base, large, gundam, untiled, or pixels as 1024+640."
    )
    base_size: int | None = Field(None, ge=64, le=4096, description="grounded: pixels of the whole view.")
    image_size: int | None = Field(None, ge=64, le=4096, description="grounded: pixels of a tile.")
    crop_mode: bool | None = Field(None, description="grounded: show tiles of the page, too.")
    prompt_mode: str | None = Field(
        None, description="grounded: ask for markdown, ocr, free, figure or describe."
    )
    prompt: str | None = Field(None, max_length=10_000, description="grounded: ask this instead.")
    locate: str | None = Field(None, max_length=1000, description="grounded: ask where this text stands.")
    callback: CallbackAddress = None


class VolumesRequest(BaseModel):
    """How photos are measured."""

    model_config = ConfigDict(extra="forbid")

    boxes: Lines | None = Field(
        None, max_length=1000, description="Things that you drew: x,y,w,h:label, or room.jpg=x,y,w,h:label."
    )
    same_room: bool | None = Field(None, description="The photos show one room: a thing in two counts once.")
    labels: Words | None = Field(None, max_length=100, description="Things to look for.")
    camera_height: float | None = Field(None, ge=0.1, le=5, description="Metres above the floor.")
    pitch: float | None = Field(None, ge=-60, le=85, description="Degrees that the camera looked down.")
    min_score: float | None = Field(None, ge=0, le=1, description="Of things; less sure ones are left out.")
    known: Lines | None = Field(
        None,
        max_length=100,
        description="Lengths that you know: table=140cm wide, room.jpg=table=1.4m wide.",
    )
    detector: Literal["saliency", "nanodet", "grounded", "rfdetr", "yoloe"] | None = Field(
        None, description="What finds things."
    )
    engine: Literal["silhouette", "sam3d"] | None = Field(
        None, description="What builds shapes: estimates, or SAM-3D where the operator has it."
    )
    setting: Literal["gaussian_4", "gaussian", "stage1"] | None = Field(
        None, description="sam3d: gaussian is 8 times larger, stage1 the size only."
    )
    stage1_steps: int | None = Field(None, ge=1, le=100, description="sam3d: of the structure.")
    stage2_steps: int | None = Field(None, ge=1, le=100, description="sam3d: of the surface.")
    floor_depth: bool | None = Field(None, description="sam3d: an empty room's depth, no model.")
    mesh: bool | None = Field(None, description="sam3d: also a GLB mesh.")
    texture: bool | None = Field(None, description="sam3d: bake textures; slow.")
    mesh_postprocess: bool | None = Field(None, description="sam3d: mend meshes; slow.")
    layout_postprocess: bool | None = Field(None, description="sam3d: refine poses.")
    callback: CallbackAddress = None


RequestT = TypeVar("RequestT", bound=BaseModel)


def checked(kind: type[RequestT], given: dict[str, Any]) -> RequestT:
    """Returns typed options. Raises HttpRefusal that names every wrong one."""
    try:
        return kind.model_validate(given)
    except ValidationError as exc:
        told = "; ".join(f"{'.'.join(map(str, error['loc']))}: {error['msg']}" for error in exc.errors())
        raise HttpRefusal(422, told, "The options are in /openapi.json.") from exc


def chosen(request: BaseModel) -> dict[str, Any]:
    """Returns the options that were given."""
    return request.model_dump(exclude_none=True)
