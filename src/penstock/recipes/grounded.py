"""The grounded recipe: a page's picture to one grounded model, its answer to regions and Markdown."""

from __future__ import annotations

from functools import partial
from typing import Literal

from penstock.engines.chat.deepseek.pages import CELLS, FIRST, MAX_TOKENS
from penstock.engines.chat.deepseek.prompts import prompt_words
from penstock.engines.chat.deepseek.resolution import resolution_name
from penstock.plan import Plan
from penstock.processes.resources import cores as usable_cores
from penstock.recipes.named_servers import refuse_with_servers
from penstock.stages.ground import Ground
from penstock.stages.load import MAX_PIXELS, Load

THREADS = 256  # each waits for one page; what is more than the servers' limit waits in the client


def grounded(
    recogniser: str = "deepseek-ocr",
    engine: Literal["vllm", "hf"] = "vllm",
    server: tuple[str, ...] = (),
    model: str = "",
    resolution: str = "",
    base_size: int | None = None,
    image_size: int | None = None,
    crop_mode: bool | None = None,
    prompt_mode: str = "",
    prompt: str = "",
    locate: str = "",
    ngram: int = FIRST.ngram,
    ngram_window: int = FIRST.window,
    ngram_keep: tuple[int, ...] = CELLS,
    max_tokens: int = MAX_TOKENS,
    trust_remote_code: bool = False,
    preset: str = "auto",
    ocr_dtype: str = "auto",
    gpu_mem_util: float | None = None,
    vision: str = "auto",
    max_model_len: int = 0,
    in_flight: int = 0,
    api_key: str | None = None,
    dpi: int = 144,
    crops: bool = True,
    max_pixels: int = MAX_PIXELS,
    password: str | None = None,
    page_timeout: float = 600.0,
    cores: int | None = None,
) -> Plan:
    """PDFs, scans and images to the same regions as `documents`, read by DeepSeek-OCR on a server.

    144 dpi is the models' own: A4 becomes two by three tiles at any resolution from 72 to 300, so more
    changes pixels, not tokens. Without a server one is started for each card, once for the whole run;
    with `engine="hf"` transformers reads one page at a time in this process. What a page is asked is
    `prompt_mode` (markdown, ocr, free, figure, describe), a `prompt` of one's own, or something to `locate`.
    """
    refuse_with_servers(
        server, engine, preset=preset, ocr_dtype=ocr_dtype, gpu_mem_util=gpu_mem_util, vision=vision
    )
    load = _load(dpi, max_pixels, password, page_timeout, cores)
    ground = Ground(
        recogniser=recogniser, engine=engine, model=model,
        resolution=resolution_name(recogniser, resolution, base_size, image_size, crop_mode),
        prompt=prompt_words(prompt_mode, prompt, locate), ngram=ngram, ngram_window=ngram_window,
        ngram_keep=ngram_keep, max_tokens=max_tokens, trust_remote_code=trust_remote_code, crops=crops,
        servers=server, preset=preset, dtype=ocr_dtype, memory=gpu_mem_util, vision=vision,
        max_model_len=max_model_len, in_flight=in_flight, api_key=api_key, timeout_s=page_timeout,
        overlap=1 if engine == "hf" else in_flight or THREADS,
    )  # fmt: skip
    return Plan(load, ground, name="grounded" if recogniser == "deepseek-ocr" else "grounded-2")


def _load(dpi: int, max_pixels: int, password: str | None, page_timeout: float, cores: int | None) -> Load:
    return Load(
        dpi=dpi,
        give="encoded",
        text_layer=False,
        max_pixels=max_pixels,
        password=password,
        deadline_s=min(page_timeout, 120.0),
        workers=max(1, (cores or usable_cores()) // 2),
    )


grounded_2 = partial(grounded, "deepseek-ocr-2")
