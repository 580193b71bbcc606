"""Puts the fast vision tower in the place of vLLM's where it fits, and says in one line whether it does.

The tower is looked at when the model is first run, in vLLM's own trial before the server is ready: by then
its weights are loaded and on their card. It is tried once on a small picture next to vLLM's own forward, and
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
from types import ModuleType
from typing import Any

MODULE = "vllm.model_executor.models.glm_ocr"
TOWER = "GlmOcrVisionTransformer"
MODEL = "GlmOcrForConditionalGeneration"  # which holds the tower as `visual`
VERSIONS = ("0.26", "0.32")  # whose towers were read and run; another may compute something else
MIN_CAPABILITY = {"fast": (8, 0), "auto": (8, 0), "fp8": (9, 0)}  # bfloat16; products of eight bits
MIN_MEMORY = 15e9  # of a card that has some to spare: the graphs take 0.9 GB
MAX_WIDTH = 16_384  # a row of a kernel lies in one program's registers
# on a small picture, relative: each is some 3 % off from float32 with random weights (docs/log.md), and a
# formula that is wrong is off by more than half
MAX_DIFFERENCE = {"fast": 0.1, "auto": 0.1, "fp8": 0.5}
TRIAL = ((1, 4, 6), (1, 2, 2))  # frames, rows and columns of patches

logger = logging.getLogger("vllm.penstock")  # below vLLM's own, whose handler writes to its log

Forward = Callable[..., Any]


class Unsupported(Exception):
    """Why the tower stays as vLLM has it, in words for the log."""


class _WhenImported(MetaPathFinder):
    """Waits for one module, and calls `then` with it when it has been loaded."""

    def __init__(self, name: str, then: Callable[[ModuleType], None]) -> None:
        self._name = name
        self._then = then

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> Any:
        if name != self._name:
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
    """Replaces the tower's forward as soon as the model's module is there. Calling twice does no harm."""
    if MODULE in sys.modules:
        replace_forward(sys.modules[MODULE], mode)
    elif not any(isinstance(finder, _WhenImported) for finder in sys.meta_path):
        # not imported here: most of vLLM's processes never need it, and other models neither
        sys.meta_path.insert(0, _WhenImported(MODULE, functools.partial(replace_forward, mode=mode)))


def replace_forward(module: ModuleType, mode: str) -> None:
    tower = getattr(module, TOWER, None)
    if tower is None:
        _tell(mode, f"this vLLM's {MODULE} has no {TOWER}")
    elif not hasattr(tower.forward, "by_penstock"):
        plain = tower.forward
        tower.forward = _choosing(plain, mode)
        tower.forward.by_penstock = True
        if model := getattr(module, MODEL, None):
            model.forward = _choosing_first(model.forward, tower, lambda own: _fast(own, plain, mode))


def _choosing(plain: Forward, mode: str) -> Forward:
    """vLLM's forward, which becomes the fast one at its first call if that fits."""

    @functools.wraps(plain)
    def forward(tower: Any, x: Any, grid_thw: Any, *more: Any, **named: Any) -> Any:
        fast = _fast(tower, plain, mode)
        if fast is None or any(value is not None for value in (*more, *named.values())):
            return plain(tower, x, grid_thw, *more, **named)
        return fast(x, grid_thw)

    return forward


def _choosing_first(plain: Forward, kind: type, choose: Callable[[Any], object]) -> Forward:
    """The model's forward, which chooses the tower's when it first runs.

    vLLM 0.26 tries the model out without a picture before its server is ready. Kernels and graphs would
    be made in the first request, outside the memory that it measured.
    """

    @functools.wraps(plain)
    def forward(model: Any, *more: Any, **named: Any) -> Any:
        tower = getattr(model, "visual", None)  # a stand-in where the server takes no pictures
        if isinstance(tower, kind) and not sys.modules["torch"].compiler.is_compiling():
            choose(tower)
        return plain(model, *more, **named)

    return forward


def _fast(tower: Any, plain: Forward, mode: str) -> Forward | None:
    """Returns the fast forward of a tower, or None where it does not fit. Chooses once."""
    if "_penstock" not in vars(tower):
        vars(tower)["_penstock"] = _chosen(tower, plain, mode)
    fast: Forward | None = vars(tower)["_penstock"]
    return fast


def _chosen(tower: Any, plain: Forward, mode: str) -> Forward | None:
    try:
        check_place(tower, mode)
        check_shapes(tower)
        check_weights(tower, mode)
        fast = fast_forward(tower, mode)
        off = _difference(tower, functools.partial(plain, tower), fast)
        if not off <= MAX_DIFFERENCE[mode]:  # a NaN does not pass either
            raise Unsupported(f"on a small picture it differs by {off:.2%} from vLLM's own")
    except Unsupported as why:
        _tell(mode, str(why))
        return None
    except Exception as exc:  # whatever breaks here must not break the server
        _tell(mode, f"{type(exc).__name__}: {exc}")
        return None
    logger.info(
        "penstock: GLM-OCR's vision tower is the fast one (%s, %.2f%% from vLLM's own).", mode, 100 * off
    )
    return fast


def _tell(mode: str, why: str) -> None:
    level = logging.INFO if mode == "auto" else logging.WARNING
    logger.log(level, "penstock: the vision tower stays as vLLM has it: %s.", " ".join(why.split())[:300])


def check_place(tower: Any, mode: str) -> None:
    """Raises Unsupported for a version, card or kind of number that we have no kernels for."""
    version = getattr(sys.modules.get("vllm"), "__version__", "of no version")
    if ".".join(version.split(".")[:2]) not in VERSIONS:
        raise Unsupported(f"vLLM {version} is none of {', '.join(VERSIONS)}")
    if tower.device.type != "cuda":
        raise Unsupported(f"it runs on {tower.device.type}, and the kernels are for CUDA")
    torch = sys.modules["torch"]
    if torch.cuda.get_device_capability(tower.device) < MIN_CAPABILITY[mode]:
        raise Unsupported(f"{torch.cuda.get_device_name(tower.device)} is too old for mode {mode}")
    if importlib.util.find_spec("triton") is None:
        raise Unsupported("Triton is not installed")
    if tower.dtype not in (torch.bfloat16, torch.float16):
        raise Unsupported(f"it computes in {tower.dtype}")


def check_shapes(tower: Any) -> None:
    """Raises Unsupported for a tower whose layers are not those of GLM-OCR."""
    try:
        for block in tower.blocks:
            _check_block(block, tower.hidden_size)
        side = tower.spatial_merge_size
        weight = tower.downsample.weight
        known = tuple(weight.shape[1:]) == (tower.hidden_size, side, side)
        gate = type(tower.merger.act_fn).__name__ == "SiluAndMul"
    except AttributeError as exc:
        raise Unsupported(f"its layers have other names ({exc})") from exc
    if not (known and gate):
        raise Unsupported("its last layers have other shapes")


def _check_block(block: Any, width: int) -> None:
    attention, mlp = block.attn, block.mlp
    size = attention.head_dim
    shapes = {
        "norm": block.norm1.weight.shape == block.norm2.weight.shape == (width,),
        "heads": attention.q_norm.weight.shape == attention.k_norm.weight.shape == (size,),
        "power": size >= 2 and size & (size - 1) == 0,
        "gate": type(mlp.act_fn).__name__ == "SiluAndMul",
        "width": max(width, mlp.gate_up_proj.output_size_per_partition // 2) <= MAX_WIDTH,
        "turn": attention.apply_rotary_emb.is_neox_style,
    }
    if wrong := [name for name, right in shapes.items() if not right]:
        raise Unsupported(f"its blocks have another shape ({', '.join(wrong)})")


def check_weights(tower: Any, mode: str) -> None:
    """Raises Unsupported for layers with adapters, and for weights that we would round a second time."""
    layers = [
        layer
        for block in tower.blocks
        for layer in (block.attn.qkv, block.attn.proj, block.mlp.gate_up_proj, block.mlp.down_proj)
    ]
    if any("LoRA" in type(layer).__name__ for layer in layers):
        raise Unsupported("its layers carry adapters")
    if mode == "fp8" and any(layer.weight.dtype != tower.dtype for layer in layers):
        raise Unsupported("its weights are rounded already")


def fast_forward(tower: Any, mode: str, graphs: bool = True) -> Forward:
    """Returns the forward of this tower with our kernels. Imports torch and Triton."""
    torch = sys.modules["torch"]
    kernels, code = _ours("kernels"), _ours("tower")
    do = _ours("fp8").Eight(kernels) if mode == "fp8" else code.Plain(kernels)

    def compute(pictures: Any) -> Any:
        return code.compute(tower, pictures, kernels, do)

    with torch.inference_mode():
        few = _ours("graphs").Graphs(tower, compute) if graphs and can_capture(tower) else None

    def run(x: Any, grid: Any) -> Any:
        rows = grid if isinstance(grid, list) else grid.tolist()
        with torch.inference_mode():
            if few is not None and few.fits(rows):
                return few(x, rows)
            return compute(code.pictures_of(tower, x, rows))

    return run


def _ours(name: str) -> Any:
    return importlib.import_module(f"penstock.vllm_plugin.{name}")


def can_capture(tower: Any) -> bool:
    """Returns whether a graph can hold the tower: no other card, and no attention that waits for the CPU."""
    memory = sys.modules["torch"].cuda.get_device_properties(tower.device).total_memory
    alone = tower.tp_size == 1 and memory >= MIN_MEMORY
    return alone and all(block.attn.attn.is_flash_attn_backend for block in tower.blocks)


def _difference(tower: Any, plain: Forward, fast: Forward) -> float:
    """How far the two are apart on pictures of noise, relative to what vLLM's own gives."""
    torch = sys.modules["torch"]
    patches = sum(frames * rows * columns for frames, rows, columns in TRIAL)
    width = tower.patch_embed.proj.weight[0].numel()
    dice = torch.Generator().manual_seed(0)
    x = torch.randn(patches, width, generator=dice).to(tower.device, tower.dtype)
    grid = torch.tensor(TRIAL)
    ours, own = fast(x, grid).float(), plain(x, grid).float()
    return float((ours - own).norm() / own.norm())
