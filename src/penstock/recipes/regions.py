"""Recipes that read regions with a vision-language model: GLM-OCR, PaddleOCR-VL, or any server.

Layout finds regions on one GPU, vLLM reads them on the same or others; pages are carried encoded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from typing import Any, Literal, get_args

from penstock.choices import SecondReading, check_choice
from penstock.engines.chat.region_tasks import Margins
from penstock.engines.layout.settings import MergeMode, Threshold, Unclip
from penstock.errors import UsageError, install_advice
from penstock.plan import Plan
from penstock.processes.resources import cores as usable_cores
from penstock.recipes.named_servers import refuse_with_servers
from penstock.stage import Needs, Stage
from penstock.stages.compose import Compose
from penstock.stages.crop_regions import CropRegions
from penstock.stages.doclayout import MODEL, doclayout
from penstock.stages.layout import builtin_layout
from penstock.stages.load import MAX_PIXELS, Load
from penstock.stages.recognise_remote import RecogniseRemote

# Images come as their source had them and are decoded where a crash costs one page. The server's own
# processes scale every crop on the same cores: in its first seconds a run would take them half of those.
FEEDING = Needs(process=True, yields=True, confined=True)
LOAD_S = 120.0  # until a page that cannot be drawn is given up
PAGES_IN_FLIGHT = 160  # pages whose regions wait for answers: at 8 a page more than the largest card takes
TORCH = ("torch", "transformers")  # what PP-DocLayoutV3 runs on


def regions(
    recogniser: str = "glm-ocr",
    server: tuple[str, ...] = (),
    model: str = "",
    preset: str = "auto",
    ocr_dtype: str = "auto",
    gpu_mem_util: float | None = None,
    vision: str = "auto",
    max_tokens: int = 0,
    max_model_len: int = 0,
    in_flight: int = 0,
    api_key: str | None = None,
    layout: Literal["auto", "pp-doclayoutv3", "cdla"] = "auto",
    layout_model: str = "",
    layout_threshold: Threshold | None = None,
    layout_merge: MergeMode | None = None,
    layout_unclip: Unclip | None = None,
    layout_nms: bool | None = None,
    layout_compile: bool | None = None,
    layout_precision: str | None = None,
    polygons: bool = False,
    crops: bool = True,
    margins: Margins = "drop",
    second_reader: SecondReading = "none",
    text_height: float = 0.0,
    dpi: int = 200,
    max_pixels: int = MAX_PIXELS,
    password: str | None = None,
    page_timeout: float | None = None,
    cores: int | None = None,
) -> Plan:
    """Pages to regions read by a model; `layout="cdla"` finds them on the CPU with the built-in network."""
    own = {
        "layout_model": layout_model or None, "layout_merge": layout_merge, "layout_unclip": layout_unclip,
        "layout_nms": layout_nms, "layout_compile": layout_compile, "layout_precision": layout_precision,
        "polygons": polygons or None,
    }  # fmt: skip
    network, notes = chosen_layout(layout, tuple(own.values()))
    check_choice("--margins", margins, get_args(Margins))
    check_choice("--second-reader", second_reader, get_args(SecondReading))
    refuse_with_servers(server, preset=preset, ocr_dtype=ocr_dtype, gpu_mem_util=gpu_mem_util, vision=vision)
    count = cores or usable_cores()
    on_gpu = network == "pp-doclayoutv3"
    find = _on_card(layout_threshold, own) if on_gpu else _built_in(layout_threshold, own, count)
    load = Load(
        dpi=dpi, max_pixels=max_pixels, give="encoded" if on_gpu else "pixels", text_layer=False,
        password=password, deadline_s=page_timeout or LOAD_S, workers=max(1, count // 2), needs=FEEDING,
    )  # fmt: skip
    ask = RecogniseRemote(
        recogniser=recogniser, model=model, margins=margins, max_tokens=max_tokens, servers=server,
        second_reader=second_reader,
        preset=preset, dtype=ocr_dtype, memory=gpu_mem_util, vision=vision, max_model_len=max_model_len,
        in_flight=in_flight, api_key=api_key, page_s=page_timeout, overlap=PAGES_IN_FLIGHT,
    )  # fmt: skip
    compose = Compose(order="given" if on_gpu else "geometry")
    where = {"needs": FEEDING, "workers": max(1, count // 2)} if on_gpu else {"overlap": count}
    cut = CropRegions(margins=margins, text_height=text_height, crops=crops, decode=on_gpu, **where)
    return Plan(load, find, cut, ask, compose, name=recogniser, notes=notes)


def chosen_layout(name: str, own: Sequence[object] = ()) -> tuple[str, tuple[str, ...]]:
    """Returns the layout and what is to be said of it: without torch the built-in network finds regions.

    Options of PP-DocLayoutV3's own choose it.
    """
    check_choice("--layout", name, ("auto", "pp-doclayoutv3", "cdla"))
    if name != "auto":
        return name, ()
    absent = [package for package in TORCH if find_spec(package) is None]
    if not absent or any(option is not None for option in own):
        return "pp-doclayoutv3", ()
    return "cdla", (
        f"Without {' and '.join(absent)} the built-in network finds the regions, on the CPU."
        f" For PP-DocLayoutV3: {install_advice('gpu')}",
    )


def _on_card(threshold: Threshold | None, own: Mapping[str, Any]) -> Stage:
    return doclayout(
        model=own["layout_model"] or MODEL, polygons=bool(own["polygons"]), threshold=threshold,
        merge=own["layout_merge"], unclip=own["layout_unclip"], nms=own["layout_nms"],
        compile=own["layout_compile"], numbers=own["layout_precision"],
    )  # fmt: skip


def _built_in(threshold: Threshold | None, own: Mapping[str, Any], cores: int) -> Stage:
    """Raises UsageError for an option of PP-DocLayoutV3: the built-in network has rules of its own."""
    for name, value in own.items():
        if value is not None:
            raise UsageError(
                f"--{name.replace('_', '-')} is for PP-DocLayoutV3; the built-in layout network takes a"
                " threshold only.",
                "Leave it out, or use --layout pp-doclayoutv3.",
            )
    return builtin_layout(threshold, cores)


glm_ocr = partial(regions, "glm-ocr")
paddleocr_vl = partial(regions, "paddleocr-vl")  # the better one for Korean
openai = partial(regions, "openai")  # any other model behind an OpenAI-compatible server
