"""Recipes that read regions with a vision-language model: GLM-OCR, PaddleOCR-VL, or any server.

Layout finds regions on one GPU, vLLM reads them on the same or others; pages are carried encoded.
"""

from __future__ import annotations

from functools import partial
from typing import Literal

from penstock.engines.chat.region_tasks import Margins
from penstock.errors import UsageError
from penstock.plan import Plan
from penstock.processes.resources import cores as usable_cores
from penstock.stage import Needs, Stage
from penstock.stages.ask import Ask
from penstock.stages.compose import Compose
from penstock.stages.crop_regions import CropRegions
from penstock.stages.doclayout import DocLayout
from penstock.stages.layout import Layout
from penstock.stages.load import MAX_PIXELS, Load

# Images come as their source had them and are decoded where a crash costs one page. The server's own
# processes scale every crop on the same cores: in its first seconds a run would take them half of those.
FEEDING = Needs(process=True, yields=True, confined=True)
PAGES_IN_FLIGHT = 160  # pages whose regions wait for answers: at 8 a page more than the largest card takes
LAYOUT_MODEL = "PaddlePaddle/PP-DocLayoutV3_safetensors"


def regions(
    recogniser: str = "glm-ocr",
    server: tuple[str, ...] = (),
    model: str = "",
    preset: str = "auto",
    in_flight: int = 0,
    api_key: str | None = None,
    layout: Literal["pp-doclayoutv3", "cdla"] = "pp-doclayoutv3",
    layout_model: str = LAYOUT_MODEL,
    polygons: bool = False,
    margins: Margins = "drop",
    text_height: float = 0.0,
    dpi: int = 200,
    max_pixels: int = MAX_PIXELS,
    password: str | None = None,
    page_timeout: float = 120.0,
    cores: int | None = None,
) -> Plan:
    """Pages to regions read by a model; `layout="cdla"` finds them on the CPU with the built-in network."""
    if layout not in ("pp-doclayoutv3", "cdla"):
        raise UsageError(f"--layout {layout} is not known.", "Choose from: pp-doclayoutv3, cdla.")
    if margins not in ("drop", "read"):
        raise UsageError(f"--margins {margins} is not known.", "Choose from: drop, read.")
    count = cores or usable_cores()
    on_gpu = layout == "pp-doclayoutv3"
    load = Load(
        dpi=dpi,
        max_pixels=max_pixels,
        give="encoded" if on_gpu else "pixels",
        text_layer=False,
        password=password,
        deadline_s=page_timeout,
        workers=max(1, count // 2),
        needs=FEEDING,
    )
    find: Stage = DocLayout(model=layout_model, polygons=polygons) if on_gpu else Layout(overlap=count)
    if on_gpu:
        cut = CropRegions(margins=margins, text_height=text_height, needs=FEEDING, workers=max(1, count // 2))
    else:
        cut = CropRegions(margins=margins, text_height=text_height, decode=False, overlap=count)
    return Plan(
        load,
        find,
        cut,
        Ask(
            recogniser=recogniser,
            model=model,
            margins=margins,
            servers=server,
            preset=preset,
            limit=in_flight,
            api_key=api_key,
            overlap=PAGES_IN_FLIGHT,
        ),
        Compose(order="given" if on_gpu else "geometry"),
        name=recogniser,
    )


glm_ocr = partial(regions, "glm-ocr")
paddleocr_vl = partial(regions, "paddleocr-vl")  # the better one for Korean
openai = partial(regions, "openai")  # any other model behind an OpenAI-compatible server
