"""Puts a fast vision tower in the place of vLLM's where it fits, and says in one line whether it does.

A tower is looked at when its model is first run, in vLLM's own trial before the server is ready: by then
its weights are loaded and on their card. It is tried once on small pictures next to vLLM's own code, and
taken only if both give the same. Whatever does not fit leaves vLLM as it is.
"""

from __future__ import annotations

import functools
import importlib
import importlib.machinery
import importlib.util
import logging
import sys
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from itertools import chain, count
from types import ModuleType
from typing import Any

from penstock.vllm_plugin.loop_guard import replace_guard
from penstock.vllm_plugin.places import PLACES, TowerParts, TowerPlace, Unsupported

VERSIONS = ("0.26", "0.32")  # whose towers were read and run; another may compute something else
MIN_CAPABILITY = {"fast": (8, 0), "auto": (8, 0), "fp8": (9, 0)}  # bfloat16; products of eight bits
MIN_MEMORY = 15e9  # of a card that has some to spare: the graphs take 0.9 GB
# on a small picture, relative: each is some 3 % off from float32 with random weights (docs/log.md), and a
# formula that is wrong is off by more than half
MAX_DIFFERENCE = {"fast": 0.1, "auto": 0.1, "fp8": 0.5}

logger = logging.getLogger("vllm.penstock")  # below vLLM's own, whose handler writes to its log

Forward = Callable[..., Any]


class _WhenImported(MetaPathFinder):
    """Waits for one module, and calls `then` with it when it has been loaded."""

    def __init__(self, name: str, then: Callable[[ModuleType], None]) -> None:
        self.name = name
        self._then = then

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> Any:
        if name != self.name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            load = spec.loader.exec_module
            spec.loader.exec_module = functools.partial(self._load, load)  # type: ignore[method-assign]
        return spec

    def _load(self, load: Callable[[ModuleType], None], module: ModuleType) -> None:
        load(module)
        self._then(module)


def after_import(mode: str) -> None:
    """Replaces what is ours of a model as soon as its module is there. Calling twice does no harm."""
    waiting = {finder.name for finder in sys.meta_path if isinstance(finder, _WhenImported)}
    for place in PLACES:
        if place.module in sys.modules:
            _replace(sys.modules[place.module], place, mode)
        elif place.module not in waiting:
            # not imported here: most of vLLM's processes never need it, and other models neither
            then = functools.partial(_replace, place=place, mode=mode)
            sys.meta_path.insert(0, _WhenImported(place.module, then))


def _replace(module: ModuleType, place: TowerPlace, mode: str) -> None:
    replace_method(module, place, mode)
    replace_guard(module)


def replace_method(module: ModuleType, place: TowerPlace, mode: str) -> None:
    owner = getattr(module, place.owner, None)
    plain = getattr(owner, place.method, None)
    if owner is None or plain is None:
        _tell(mode, f"this vLLM's {place.module} has no {place.owner}.{place.method}")
    elif not hasattr(plain, "by_penstock"):
        choosing = _choosing(plain, place, mode)
        choosing.by_penstock = True  # type: ignore[attr-defined]
        setattr(owner, place.method, choosing)
        if model := getattr(module, place.model, None):
            model.forward = _choosing_first(
                model.forward, owner, place, lambda own: _fast(own, plain, place, mode)
            )


def _choosing(plain: Forward, place: TowerPlace, mode: str) -> Forward:
    """vLLM's method, which becomes the fast one at its first call if that fits."""

    @functools.wraps(plain)
    def method(owner: Any, *given: Any, **named: Any) -> Any:
        fast = _fast(owner, plain, place, mode)
        names = chain(place.arguments, map(str, count()))
        values = {**dict(zip(names, given, strict=False)), **named}
        values = {name: value for name, value in values.items() if value is not None}
        if fast is None or values.keys() != set(place.arguments):
            return plain(owner, *given, **named)  # what we know nothing of is vLLM's
        return fast(*(values[name] for name in place.arguments))

    return method


def _choosing_first(
    plain: Forward, owner: type, place: TowerPlace, choose: Callable[[Any], object]
) -> Forward:
    """The model's forward, which chooses the tower's when it first runs.

    vLLM 0.26 tries the model out without a picture before its server is ready. Kernels and graphs would
    be made in the first request, outside the memory that it measured.
    """

    @functools.wraps(plain)
    def forward(model: Any, *more: Any, **named: Any) -> Any:
        own = getattr(model, place.held, None) if place.held else model
        # a stand-in where the server takes no pictures
        if isinstance(own, owner) and not sys.modules["torch"].compiler.is_compiling():
            choose(own)
        return plain(model, *more, **named)

    return forward


def _fast(owner: Any, plain: Forward, place: TowerPlace, mode: str) -> Forward | None:
    """Returns the fast method of a tower, or None where it does not fit. Chooses once."""
    if "_penstock" not in vars(owner):
        vars(owner)["_penstock"] = _chosen(owner, plain, place, mode)
    fast: Forward | None = vars(owner)["_penstock"]
    return fast


def _chosen(owner: Any, plain: Forward, place: TowerPlace, mode: str) -> Forward | None:
    if mode == "fp8" and not place.eight_bits:
        logger.warning("penstock: %s's tower has no products in eight bits: fast is taken.", place.name)
        mode = "fast"
    try:
        parts = parts_of(owner, place)
        check_place(parts, mode)
        check_layers(parts, place, mode)
        fast = fast_method(owner, place, mode, graphs=can_capture(parts))
        off = _difference(owner, place, functools.partial(plain, owner), fast)
        if not off <= MAX_DIFFERENCE[mode]:  # a NaN does not pass either
            raise Unsupported(f"on a small picture it differs by {off:.2%} from vLLM's own")
    except Unsupported as why:
        _tell(mode, str(why))
        return None
    except Exception as exc:  # whatever breaks here must not break the server
        _tell(mode, f"{type(exc).__name__}: {exc}")
        return None
    logger.info(
        "penstock: %s's vision tower is the fast one (%s, %.2f%% from vLLM's own).",
        place.name,
        mode,
        100 * off,
    )
    return fast


def _tell(mode: str, why: str) -> None:
    level = logging.INFO if mode == "auto" else logging.WARNING
    logger.log(level, "penstock: the vision tower stays as vLLM has it: %s.", " ".join(why.split())[:300])


def parts_of(owner: Any, place: TowerPlace) -> TowerParts:
    """Raises Unsupported for a tower whose layers are not those of its model."""
    try:
        place.check(owner)
        return place.parts(owner)
    except (AttributeError, IndexError) as exc:
        raise Unsupported(f"its layers have other names ({exc})") from exc


def check_place(parts: TowerParts, mode: str) -> None:
    """Raises Unsupported for a version, card or kind of number that we have no kernels for."""
    version = getattr(sys.modules.get("vllm"), "__version__", "of no version")
    if ".".join(version.split(".")[:2]) not in VERSIONS:
        raise Unsupported(f"vLLM {version} is none of {', '.join(VERSIONS)}")
    if parts.device.type != "cuda":
        raise Unsupported(f"it runs on {parts.device.type}, and the kernels are for CUDA")
    torch = sys.modules["torch"]
    if torch.cuda.get_device_capability(parts.device) < MIN_CAPABILITY[mode]:
        raise Unsupported(f"{torch.cuda.get_device_name(parts.device)} is too old for mode {mode}")
    if importlib.util.find_spec("triton") is None:
        raise Unsupported("Triton is not installed")
    if parts.dtype not in (torch.bfloat16, torch.float16):
        raise Unsupported(f"it computes in {parts.dtype}")


def check_layers(parts: TowerParts, place: TowerPlace, mode: str) -> None:
    """Raises Unsupported for layers with adapters or on several cards, and for weights rounded already."""
    if any("LoRA" in type(layer).__name__ for layer in parts.products):
        raise Unsupported("its layers carry adapters")
    if parts.cards > 1 and not place.splits:
        raise Unsupported(f"its layers are split over {parts.cards} cards")
    if mode == "fp8" and any(layer.weight.dtype != parts.dtype for layer in parts.products):
        raise Unsupported("its weights are rounded already")


def fast_method(owner: Any, place: TowerPlace, mode: str, graphs: bool) -> Forward:
    """Returns what computes the same with our kernels. Imports torch and Triton."""
    torch = sys.modules["torch"]
    kernels, room = _ours("kernels"), _ours(place.room)
    with torch.inference_mode():
        fast = room.fast(owner, kernels, mode, graphs)

    def run(*given: Any) -> Any:
        with torch.inference_mode():
            return fast(*given)

    return run


def _ours(name: str) -> Any:
    return importlib.import_module(f"penstock.vllm_plugin.{name}")


def can_capture(parts: TowerParts) -> bool:
    """Returns whether a graph can hold the tower: no other card, and no attention that waits for the CPU."""
    memory = sys.modules["torch"].cuda.get_device_properties(parts.device).total_memory
    alone = parts.cards == 1 and memory >= MIN_MEMORY
    return alone and all(attention.is_flash_attn_backend for attention in parts.attentions)


def _difference(owner: Any, place: TowerPlace, plain: Forward, fast: Forward) -> float:
    """How far the two are apart on pictures of noise, relative to what vLLM's own gives."""
    given = _ours(place.room).trial(owner)
    ours, own = _flat(fast(*given)), _flat(plain(*given))
    return float((ours - own).norm() / own.norm())


def _flat(result: Any) -> Any:
    torch = sys.modules["torch"]
    return (result if isinstance(result, torch.Tensor) else torch.cat(list(result))).float()
