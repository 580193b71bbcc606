"""The recipe of pass 2: eyes if there is a vision server, then words."""

from __future__ import annotations

from penstock.engines.summarise.writers import TextEngine
from penstock.plan import Plan
from penstock.stage import Stage
from penstock.stages.describe_pictures import DescribePictures
from penstock.stages.summarise import Summarise


def enrich(
    text_engine: TextEngine = "rule",
    server: tuple[str, ...] = (),
    model: str = "",
    vision_server: tuple[str, ...] = (),
    vision: str = "deepseek-ocr",
    vision_model: str = "",
    max_tokens: int = 0,
    api_key: str | None = None,
    in_flight: int = 64,
    lang: tuple[str, ...] = (),
) -> Plan:
    """Tables and pictures of a run to summaries and keywords: English, and Korean for Korean documents.

    `lang` names the languages instead: ("ko",), ("en",) or both.
    """
    look: tuple[Stage, ...] = ()
    if vision_server:
        look = (
            DescribePictures(
                recogniser=vision,
                model=vision_model,
                servers=vision_server,
                in_flight=in_flight,
                api_key=api_key,
                max_tokens=max_tokens or DescribePictures.max_tokens,
            ),
        )
    summarise = Summarise(
        engine=text_engine,
        model=model,
        lang=lang,
        max_tokens=max_tokens or Summarise.max_tokens,
        servers=server,
        in_flight=in_flight,
        api_key=api_key,
    )
    return Plan(*look, summarise, name="enrich")
