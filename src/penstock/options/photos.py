"""The options of the recipe for photos, of what a user says of a photo, and of SAM-3D."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from penstock.engines.mesh.request import MeshOptions, Setting
from penstock.options.option import Option
from penstock.photos.user_boxes import GivenBox, GivenDepth, KnownSize

PHOTO_READING: tuple[Option, ...] = (
    Option("labels", Sequence[str], "What to look for, such as sofa,책장. Furniture if not given.",
        several="names", remote=True, max_length=100),
    Option("detector", Literal["saliency", "nanodet", "grounded", "rfdetr", "yoloe"],
        "What finds things: saliency (CPU, one thing in a photo), nanodet (CPU, furniture by name),"
        " grounded (Grounding DINO and SAM 2), rfdetr, yoloe. Default: grounded on a GPU, otherwise nanodet"
        " if it was fetched, otherwise saliency.", remote=True),
    Option("model", str, "Weights of the detector: a folder, a file or a name on the Hub.", group="Servers"),
    Option("min_score", float, "Leave out things that were found with a lower score.", remote=True, min=0,
        max=1),
    Option("engine", Literal["silhouette", "sam3d"],
        "What builds shapes: silhouette (CPU, estimates) or sam3d (3D, needs a GPU).", remote=True,
        group="Servers"),
    Option("camera_height", float, "Camera height above the floor in metres. Estimated if not given.",
        remote=True, min=0.1, max=5, group="Input"),
    Option("pitch", float, "Angle in degrees at which the camera looked down. Estimated if not given.",
        remote=True, min=-60, max=85, group="Input"),
    Option("furniture", str,
        "Furniture table of your own: a CSV of sizes, an SQLite file (created if missing) or a"
        " postgresql:// URL.", group="Input"),
    Option("gpus", int, "Number of GPUs to use, with one process each.", min=1, group="Servers"),
    Option("max_pixels", int, "Refuse photos with more pixels.", min=1),
    Option("page_timeout", float, "Seconds after which a photo counts as failed.", min=1),
    Option("cores", int | None, "Number of CPU cores to use. Default: all.", min=1, group="Running"),
)  # fmt: skip

# what a user says of the photos; the shell's and a form's words are read by passes/photo_words.py
SAID: tuple[Option, ...] = (
    Option("boxes", Sequence[GivenBox],
        "Box of a thing in pixels, and its label: x,y,w,h:chair or room.jpg=x,y,w,h:chair. Repeatable.",
        shell_name="box", several="repeated", remote=True, group="Input"),
    Option("depths", Sequence[GivenDepth],
        "Depth map of a photo, FILE or room.jpg=FILE: .npy in metres or 16-bit PNG in millimetres."
        " Repeatable.", shell_name="depth", several="repeated", group="Input"),
    Option("known", Sequence[KnownSize],
        'A length that you know, such as "table=140cm wide" (or deep, or high). The photo is measured by'
        " it. Repeatable.", several="repeated", remote=True, max_length=100, group="Input"),
)  # fmt: skip
SAME_ROOM = Option(
    "same_room",
    bool,
    "The photos show one room: a thing in two of them counts once.",
    default=False,
    remote=True,
    group="Input",
)

# options of SAM-3D by their names in `MeshOptions`
PATHS: dict[str, Option] = {
    "python": Option(
        "sam3d_python", str, "sam3d: Python interpreter of SAM-3D's own environment.", group="Servers"
    ),
    "config": Option(
        "sam3d_config", str, "sam3d: SAM-3D's pipeline.yaml, in the folder of its weights.", group="Servers"
    ),
    "moge": Option(
        "moge",
        str,
        "Weights of MoGe-2 for metric depth, run by --sam3d-python. For either engine.",
        group="Servers",
    ),
}
SHAPES: dict[str, Option] = {
    "floor_depth": Option(
        "floor_depth",
        bool,
        "sam3d: use the depth of an empty room instead of a depth model. A last resort.",
        remote=True,
    ),
    "setting": Option(
        "setting", Setting, "sam3d: gaussian_4, gaussian (8 times larger) or stage1 (size only).", remote=True
    ),
    "stage1_steps": Option(
        "stage1_steps",
        int,
        "sam3d: number of steps for the structure. Default: 25.",
        remote=True,
        min=1,
        max=100,
    ),
    "stage2_steps": Option(
        "stage2_steps",
        int,
        "sam3d: number of steps for the surface. Default: 25.",
        remote=True,
        min=1,
        max=100,
    ),
    "with_mesh": Option(
        "mesh", bool, "sam3d: write a GLB mesh as well. Takes a third more time.", remote=True
    ),
    "with_texture": Option(
        "texture", bool, "sam3d: bake textures. Takes 30 to 60 s for each object.", remote=True
    ),
    "with_mesh_postprocess": Option(
        "mesh_postprocess", bool, "sam3d: repair meshes. Takes 20 to 40 s for each object.", remote=True
    ),
    "with_layout_postprocess": Option(
        "layout_postprocess", bool, "sam3d: refine poses. Takes 2 to 5 s for each object.", remote=True
    ),
}
SAM3D: dict[str, Option] = {**PATHS, **SHAPES}
MESH = Option("mesh", MeshOptions, "How SAM-3D is run.")  # of Python, as one value
