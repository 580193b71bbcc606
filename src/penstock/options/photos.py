"""The options of the recipe for photos, of what a user says of a photo, and of SAM-3D."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from penstock.engines.mesh.request import MeshOptions, Setting
from penstock.options.option import Option
from penstock.photos.user_boxes import GivenBox, GivenDepth, KnownSize

PHOTO_READING: tuple[Option, ...] = (
    Option(
        name="labels", type=Sequence[str], several="names", remote=True, max_length=100,
        help="What to look for, such as sofa,책장. Furniture if not given.",
    ),
    Option(
        name="detector", type=Literal["saliency", "nanodet", "grounded", "rfdetr", "yoloe"], remote=True,
        help="What finds things: saliency (CPU, one thing in a photo), nanodet (CPU, furniture by name),"
        " grounded (Grounding DINO and SAM 2), rfdetr, yoloe. Default: grounded on a GPU, otherwise nanodet"
        " if it was fetched, otherwise saliency.",
    ),
    Option(
        name="model", type=str, group="Servers",
        help="Weights of the detector: a folder, a file or a name on the Hub.",
    ),
    Option(
        name="min_score", type=float, remote=True, min=0, max=1,
        help="Leave out things that were found with a lower score.",
    ),
    Option(
        name="engine", type=Literal["silhouette", "sam3d"], remote=True, group="Servers",
        help="What builds shapes: silhouette (CPU, estimates) or sam3d (3D, needs a GPU).",
    ),
    Option(
        name="camera_height", type=float, remote=True, min=0.1, max=5, group="Input",
        help="Camera height above the floor in metres. Estimated if not given.",
    ),
    Option(
        name="pitch", type=float, remote=True, min=-60, max=85, group="Input",
        help="Angle in degrees at which the camera looked down. Estimated if not given.",
    ),
    Option(
        name="furniture", type=str, group="Input",
        help="Furniture table of your own: a CSV of sizes, an SQLite file (created if missing) or a"
        " postgresql:// URL.",
    ),
    Option(
        name="gpus", type=int, min=1, group="Servers",
        help="Number of GPUs to use, with one process each.",
    ),
    Option(
        name="max_pixels", type=int, min=1,
        help="Refuse photos with more pixels.",
    ),
    Option(
        name="page_timeout", type=float, min=1,
        help="Seconds after which a photo counts as failed.",
    ),
    Option(
        name="cores", type=int | None, min=1, group="Running",
        help="Number of CPU cores to use. Default: all.",
    ),
)  # fmt: skip

# what a user says of the photos; the shell's and a form's words are read by passes/photo_words.py
SAID: tuple[Option, ...] = (
    Option(
        name="boxes", shell_name="box", type=Sequence[GivenBox], several="repeated", remote=True,
        group="Input",
        help="Box of a thing in pixels, and its label: x,y,w,h:chair or room.jpg=x,y,w,h:chair. Repeatable.",
    ),
    Option(
        name="depths", shell_name="depth", type=Sequence[GivenDepth], several="repeated", group="Input",
        help="Depth map of a photo, FILE or room.jpg=FILE: .npy in metres or 16-bit PNG in millimetres."
        " Repeatable.",
    ),
    Option(
        name="known", type=Sequence[KnownSize], several="repeated", remote=True, max_length=100,
        group="Input",
        help='A length that you know, such as "table=140cm wide" (or deep, or high). The photo is measured by'
        " it. Repeatable.",
    ),
)  # fmt: skip
SAME_ROOM = Option(
    name="same_room", type=bool, default=False, remote=True, group="Input",
    help="The photos show one room: a thing in two of them counts once.",
)  # fmt: skip

# options of SAM-3D by their names in `MeshOptions`
PATHS: dict[str, Option] = {
    "python": Option(
        name="sam3d_python", type=str, group="Servers",
        help="sam3d: Python interpreter of SAM-3D's own environment.",
    ),
    "config": Option(
        name="sam3d_config", type=str, group="Servers",
        help="sam3d: SAM-3D's pipeline.yaml, in the folder of its weights.",
    ),
    "moge": Option(
        name="moge", type=str, group="Servers",
        help="Weights of MoGe-2 for metric depth, run by --sam3d-python. For either engine.",
    ),
}  # fmt: skip
SHAPES: dict[str, Option] = {
    "floor_depth": Option(
        name="floor_depth", type=bool, remote=True,
        help="sam3d: use the depth of an empty room instead of a depth model. A last resort.",
    ),
    "setting": Option(
        name="setting", type=Setting, remote=True,
        help="sam3d: gaussian_4, gaussian (8 times larger) or stage1 (size only).",
    ),
    "stage1_steps": Option(
        name="stage1_steps", type=int, remote=True, min=1, max=100,
        help="sam3d: number of steps for the structure. Default: 25.",
    ),
    "stage2_steps": Option(
        name="stage2_steps", type=int, remote=True, min=1, max=100,
        help="sam3d: number of steps for the surface. Default: 25.",
    ),
    "with_mesh": Option(
        name="mesh", type=bool, remote=True,
        help="sam3d: write a GLB mesh as well. Takes a third more time.",
    ),
    "with_texture": Option(
        name="texture", type=bool, remote=True,
        help="sam3d: bake textures. Takes 30 to 60 s for each object.",
    ),
    "with_mesh_postprocess": Option(
        name="mesh_postprocess", type=bool, remote=True,
        help="sam3d: repair meshes. Takes 20 to 40 s for each object.",
    ),
    "with_layout_postprocess": Option(
        name="layout_postprocess", type=bool, remote=True,
        help="sam3d: refine poses. Takes 2 to 5 s for each object.",
    ),
}  # fmt: skip
SAM3D: dict[str, Option] = {**PATHS, **SHAPES}
MESH = Option(name="mesh", type=MeshOptions, help="How SAM-3D is run.")  # of Python, as one value
