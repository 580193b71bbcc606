"""The embedding pass: pages of a finished run to vectors, each with its picture where the engine has eyes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from penstock.engines.embed.embedder import RETRIEVE, takes_images
from penstock.exports.page_pictures import load_of
from penstock.plan import Plan
from penstock.processes.resources import cores as usable_cores
from penstock.stage import Stage
from penstock.stages.embed import Embed, EmbeddedRegions
from penstock.store.out import Out

CALLS = 3  # of a server or a card: one is computed, one waits for its turn, one is put together


def embed_pages(
    out: Out,
    engine: str = "use",
    images: bool | None = None,
    regions: EmbeddedRegions | None = None,
    password: str | None = None,
    **settings: Any,
) -> Plan:
    """`images` None embeds pictures when the engine can.

    `regions` None gives an engine that reads texts only every paragraph: a sentence encoder finds the page of
    a question by its best paragraph (rank 1 for 6 of 12 questions), not by all its words (5 of 12).
    """
    eyes = takes_images(engine) if images is None else images
    chosen: EmbeddedRegions = regions or ("visual" if takes_images(engine) else "all")
    calls = CALLS if takes_images(engine) else 1
    stages: list[Stage] = [
        Embed(engine=engine, images=eyes, regions=chosen, out=str(out), overlap=calls, **settings)
    ]
    if eyes:  # one process draws 17 pages a second, and a card embeds 40
        workers = max(1, usable_cores() // 2)
        stages.insert(0, replace(load_of(out, password, give="encoded"), workers=workers))
    return Plan(*stages, name="embed")


def embed_queries(out: Out, engine: str = "use", **settings: Any) -> Plan:
    return Plan(Embed(engine=engine, out=str(out), instruction=RETRIEVE, **settings), name="embed-queries")
