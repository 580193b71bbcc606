"""The grounded recipe: a page's picture to one grounded model, its answer to regions and Markdown."""

from __future__ import annotations

from penstock.plan import Plan
from penstock.stages.ground import Ground
from penstock.stages.load import MAX_PIXELS, Load
from penstock.store.manifest import cores as usable_cores


def grounded(
    server: tuple[str, ...] = (),
    model: str = "deepseek-ocr",
    served_model: str | None = None,
    api_key: str | None = None,
    in_flight: int = 128,
    dpi: int = 144,
    crops: bool = True,
    max_pixels: int = MAX_PIXELS,
    password: str | None = None,
    page_timeout: float = 600.0,
    cores: int | None = None,
) -> Plan:
    """PDFs, scans and images to the same regions as `documents`, read by DeepSeek-OCR on a server.

    144 dpi is the models' own: A4 becomes two by three tiles at any resolution from 72 to 300, so more
    changes pixels, not tokens. `in_flight` pages wait at the server at once.
    """
    load = Load(
        dpi=dpi,
        give="encoded",
        text_layer=False,
        max_pixels=max_pixels,
        password=password,
        deadline_s=min(page_timeout, 120.0),
        workers=max(1, (cores or usable_cores()) // 2),
    )
    ground = Ground(
        model=model,
        crops=crops,
        servers=server,
        served_model=served_model,
        api_key=api_key,
        in_flight=in_flight,
        timeout_s=page_timeout,
        overlap=in_flight,
    )
    return Plan(load, ground, name="grounded")
