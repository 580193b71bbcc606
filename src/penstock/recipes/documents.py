"""The built-in recipe: pages to Markdown on a CPU, with weights that come from packages."""

from __future__ import annotations

from typing import Literal

from penstock.engines.layout.settings import Threshold
from penstock.engines.ocr.effort import EFFORTS, Effort
from penstock.engines.ocr.foreign_languages import FOREIGN_LANGUAGES
from penstock.errors import UsageError
from penstock.plan import Plan
from penstock.processes.resources import cores as usable_cores
from penstock.stage import Stage
from penstock.stages.compose import Compose
from penstock.stages.crop import Crop
from penstock.stages.layout import builtin_layout, careful_layout
from penstock.stages.load import MAX_PIXELS, Load
from penstock.stages.orient import FlattenUse, Orient
from penstock.stages.recognise import LayerUse, Recognise
from penstock.stages.rules import RulesLayout

# what the built-in recognisers read, as ISO 639-1 codes: Korean, Chinese, Japanese, Latin letters, and others
LANGUAGES = FOREIGN_LANGUAGES | frozenset({
    "ko", "zh", "ja", "en", "af", "az", "bs", "ca", "cs", "cy", "da", "de", "es", "et", "eu", "fi", "fr",
    "ga", "gl", "hr", "hu", "id", "is", "it", "ku", "la", "lb", "lt", "lv", "ms", "mt", "nl", "no", "oc",
    "pl", "pt", "ro", "sk", "sl", "sq", "sv", "sw", "tl", "tr", "uz", "vi",
})  # fmt: skip


def documents(
    dpi: int = 200,
    lang: tuple[str, ...] = (),
    layout: Literal["model", "rules", "pp-doclayoutv3"] = "model",
    layout_model: str = "",
    layout_threshold: Threshold | None = None,
    text_layer: LayerUse = "auto",
    flatten: FlattenUse = "auto",
    effort: Effort = "balanced",
    crops: bool = True,
    max_pixels: int = MAX_PIXELS,
    password: str | None = None,
    page_timeout: float = 120.0,
    cores: int | None = None,
) -> Plan:
    """PDFs, scans and images to ordered regions, Markdown and crops.

    `layout="pp-doclayoutv3"` finds regions with a larger network, whose weights come from the Hub.
    `layout_model` is an ONNX file of it, or a checkpoint that torch runs.
    Every engine runs on one thread and pages run side by side, which on two cores or more beats
    engines that share out one page (benchmarks/cpu/bench_parse.py).
    """
    _check_word("--text-layer", text_layer, ("auto", "always", "never"))
    _check_word("--flatten", flatten, ("auto", "off", "always"))
    _check_word("--effort", effort, EFFORTS)
    _check_languages(lang)
    count = cores or usable_cores()
    find = _finder(layout, layout_model, layout_threshold, count)
    load = Load(
        dpi=dpi,
        text_layer=text_layer != "never",
        render="auto" if layout == "rules" else "always",
        max_pixels=max_pixels,
        password=password,
        deadline_s=page_timeout,
        workers=max(1, count // 2),
    )
    cut = (Crop(),) if crops else ()
    return Plan(
        load,
        Orient(flatten=flatten, effort=effort, workers=1, overlap=count),
        find,
        *cut,
        Recognise(
            lang=lang,
            text_layer=text_layer,
            effort=effort,
            threads=count,
            overlap=count + 1,
            deadline_s=10 * page_timeout,
        ),
        Compose(order="ranked" if layout == "pp-doclayoutv3" else "geometry"),
        name="documents",
    )


def _finder(layout: str, model: str, threshold: Threshold | None, count: int) -> Stage:
    _check_word("--layout", layout, ("model", "rules", "pp-doclayoutv3"))
    if model and layout != "pp-doclayoutv3":
        raise UsageError(
            f"--layout-model is for PP-DocLayoutV3, not for --layout {layout}.",
            "Add --layout pp-doclayoutv3.",
        )
    if layout == "rules" and threshold is not None:
        raise UsageError("--layout-threshold is for a layout model; rules score nothing.", "Leave it out.")
    if layout == "rules":
        return RulesLayout()
    if layout == "pp-doclayoutv3":
        return careful_layout(model, threshold, count)
    return builtin_layout(threshold, count)


def _check_languages(lang: tuple[str, ...]) -> None:
    for word in lang:
        if word not in LANGUAGES:
            raise UsageError(
                f"--lang {word} is no language the built-in models read.",
                "Write codes such as ko, en, zh, ja or de, or leave it out.",
            )


def _check_word(option: str, word: str, words: tuple[str, ...]) -> None:
    if word not in words:
        raise UsageError(f"{option} {word} is not known.", f"Choose from: {', '.join(words)}.")
