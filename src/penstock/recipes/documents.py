"""The built-in recipe: pages to Markdown on a CPU, with weights that come from packages."""

from __future__ import annotations

from typing import Literal

from penstock.choices import FlattenUse, LayerUse, OfficeUse, Unprinted, check_choice
from penstock.engines.layout.settings import Threshold, thresholds
from penstock.engines.ocr.effort import EFFORTS, Effort
from penstock.engines.ocr.foreign_languages import FOREIGN_LANGUAGES
from penstock.engines.weights import registry as weights
from penstock.errors import UsageError
from penstock.plan import Plan
from penstock.plugins import installed
from penstock.processes.resources import cores as usable_cores
from penstock.sizes import file_size
from penstock.stage import Stage
from penstock.stages.compose import Compose
from penstock.stages.crop import Crop
from penstock.stages.layout import Layout, builtin_layout, wide_layout
from penstock.stages.load import MAX_PIXELS, Load
from penstock.stages.orient import Orient
from penstock.stages.recognise import Recognise
from penstock.stages.rules import RulesLayout

# what the built-in recognisers read, as ISO 639-1 codes: Korean, Chinese, Japanese, Latin letters, and others
LANGUAGES = FOREIGN_LANGUAGES | frozenset({
    "ko", "zh", "ja", "en", "af", "az", "bs", "ca", "cs", "cy", "da", "de", "es", "et", "eu", "fi", "fr",
    "ga", "gl", "hr", "hu", "id", "is", "it", "ku", "la", "lb", "lt", "lv", "ms", "mt", "nl", "no", "oc",
    "pl", "pt", "ro", "sk", "sl", "sq", "sv", "sw", "tl", "tr", "uz", "vi",
})  # fmt: skip


LARGE = "pp-doclayoutv3"
OURS = ("auto", "model", "pair", "rules", LARGE)


def documents(
    dpi: int = 200,
    lang: tuple[str, ...] = (),
    layout: Literal["auto", "model", "pair", "rules", "pp-doclayoutv3"] = "auto",
    layout_model: str = "",
    layout_threshold: Threshold | None = None,
    text_layer: LayerUse = "auto",
    flatten: FlattenUse = "auto",
    office: OfficeUse = "auto",
    unprinted: Unprinted = "keep",
    read_pictures: bool = False,
    effort: Effort = "balanced",
    crops: bool = True,
    max_pixels: int = MAX_PIXELS,
    password: str | None = None,
    page_timeout: float = 120.0,
    cores: int | None = None,
) -> Plan:
    """PDFs, scans and images to ordered regions, Markdown and crops.

    `layout="model"` finds regions with the built-in network, "pair" with a second one as well on pages with
    words, and "pp-doclayoutv3" with the larger one. "auto" takes the larger one for the best effort where its
    weights are, and where `layout_model` names an ONNX file of it or a checkpoint that torch runs; for the
    balanced effort it takes it for pictures.
    Every engine runs on one thread and pages run side by side, which on two cores or more beats
    engines that share out one page (benchmarks/cpu/bench_parse.py).
    """
    check_choice("--text-layer", text_layer, ("auto", "always", "never"))
    check_choice("--flatten", flatten, ("auto", "off", "always"))
    check_choice("--office", office, ("auto", "structure", "pages", "both"))
    check_choice("--unprinted", unprinted, ("keep", "drop", "all"))
    check_choice("--effort", effort, EFFORTS)
    _check_languages(lang)
    count = cores or usable_cores()
    network, of_pictures, notes = _chosen_layout(layout, layout_model, effort)
    find = _finder(network, of_pictures, layout_model, layout_threshold, count)
    load = Load(
        dpi=dpi, text_layer=text_layer != "never", office="structure" if office == "auto" else office,
        unprinted=unprinted, crops=crops, read_pictures=read_pictures,
        render="auto" if layout == "rules" else "always", max_pixels=max_pixels, password=password,
        deadline_s=page_timeout, workers=max(1, count // 2),
    )  # fmt: skip
    orient = Orient(flatten=flatten, effort=effort, workers=1, overlap=count)
    cut = (Crop(),) if crops else ()
    read = Recognise(
        lang=lang, text_layer=text_layer, effort=effort, read_pictures=read_pictures, threads=count,
        overlap=count + 1, deadline_s=10 * page_timeout,
    )  # fmt: skip
    compose = Compose(order="ranked" if {"pair", LARGE} & {network, of_pictures} else "geometry")
    return Plan(load, orient, find, *cut, read, compose, name="documents", notes=notes)


def _chosen_layout(layout: str, model: str, effort: Effort) -> tuple[str, str, tuple[str, ...]]:
    """Returns what finds the regions, of pictures too, and what is to be said of it. Fetches nothing."""
    check_choice("--layout", layout, OURS if layout in OURS else (*OURS, *installed("layouts")))
    if layout != "auto":
        return layout, "cdla" if layout == "pair" else "", ()
    if model:
        return LARGE, "", ()
    large = weights.MODELS[LARGE]
    if weights.look(large).state == "ready":
        return {"best": (LARGE, "", ()), "balanced": ("model", LARGE, ())}.get(effort, ("model", "", ()))
    hint = (
        f"A larger network ({file_size(large.size)}) finds regions better. To have it: {large.fetch_command}"
    )
    return "model", "", (hint,) if effort == "best" else ()


def _finder(layout: str, of_pictures: str, model: str, threshold: Threshold | None, count: int) -> Stage:
    if model and layout != LARGE:
        raise UsageError(
            f"--layout-model is for PP-DocLayoutV3, not for --layout {layout}.",
            "Add --layout pp-doclayoutv3.",
        )
    if layout == "rules" and threshold is not None:
        raise UsageError("--layout-threshold is for a layout model; rules score nothing.", "Leave it out.")
    if layout == "rules":
        return RulesLayout()
    if layout not in OURS:
        score = thresholds("" if threshold is None else threshold).all
        return Layout(engine=layout, threshold=score, overlap=count)
    if layout == "model" and not of_pictures:
        return builtin_layout(threshold, count)
    return wide_layout("cdla" if layout == "model" else layout, threshold, count, of_pictures, model)


def _check_languages(lang: tuple[str, ...]) -> None:
    for word in lang:
        if word not in LANGUAGES:
            raise UsageError(
                f"--lang {word} is no language the built-in models read.",
                "Write codes such as ko, en, zh, ja or de, or leave it out.",
            )
