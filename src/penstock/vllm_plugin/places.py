"""Where vLLM keeps each model's tower, how it calls the layers, and which of our rooms computes the same.

Reads layers and their shapes, and imports neither torch nor vLLM.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

MAX_WIDTH = 16_384  # a row of a kernel lies in one program's registers


class Unsupported(Exception):
    """Why a tower stays as vLLM has it, in words for the log."""


@dataclass(frozen=True, slots=True)
class TowerParts:
    """What is asked of a tower before ours takes its place."""

    device: Any
    dtype: Any
    cards: int  # that share its layers
    products: Sequence[Any]
    attentions: Sequence[Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class TowerPlace:
    """A model of vLLM's, and the method that is replaced: of the model, or of its attribute `held`."""

    name: str
    room: str  # ours; vLLM's module has the same name
    model: str
    owner: str
    method: str
    arguments: tuple[str, ...]
    parts: Callable[[Any], TowerParts]
    check: Callable[[Any], None]
    eight_bits: bool = False
    splits: bool = False  # whether the layers may be split over cards
    held: str = ""

    @property
    def module(self) -> str:
        return f"vllm.model_executor.models.{self.room}"


@dataclass(frozen=True, slots=True)
class TowerBlock:
    """A block's layers, whatever a model calls them."""

    norm1: Any
    qkv: Any
    attention: Any
    heads: int
    proj: Any
    norm2: Any
    up: Any
    bend: Any
    down: Any


_OF_SIGLIP = attrgetter(
    "layer_norm1", "self_attn.qkv_proj", "self_attn.attn", "self_attn.num_attention_heads_per_partition",
    "self_attn.out_proj", "layer_norm2", "mlp.fc1", "mlp.activation_fn", "mlp.fc2",
)  # fmt: skip
_OF_QWEN = attrgetter(
    "norm1", "attn.qkv", "attn.attn", "attn.num_attention_heads_per_partition",
    "attn.proj", "norm2", "mlp.linear_fc1", "mlp.act_fn", "mlp.linear_fc2",
)  # fmt: skip


def siglip_blocks(model: Any) -> list[TowerBlock]:
    """Those of PaddleOCR-VL."""
    return [TowerBlock(*_OF_SIGLIP(layer)) for layer in model.visual.vision_model.encoder.layers]


def qwen_blocks(tower: Any) -> list[TowerBlock]:
    return [TowerBlock(*_OF_QWEN(block)) for block in tower.blocks]


def _glm_parts(tower: Any) -> TowerParts:
    products = [
        layer
        for block in tower.blocks
        for layer in (block.attn.qkv, block.attn.proj, block.mlp.gate_up_proj, block.mlp.down_proj)
    ]
    attentions = [block.attn.attn for block in tower.blocks]
    return TowerParts(tower.device, tower.dtype, tower.tp_size, products, attentions)


def _paddle_parts(model: Any) -> TowerParts:
    cards = model.visual.vision_model.encoder.layers[0].self_attn.tp_size
    return _block_parts(model.visual, siglip_blocks(model), cards)


def _qwen_parts(tower: Any) -> TowerParts:
    return _block_parts(tower, qwen_blocks(tower), tower.tp_size)


def _block_parts(tower: Any, blocks: Sequence[TowerBlock], cards: int) -> TowerParts:
    products = [layer for block in blocks for layer in (block.qkv, block.proj, block.up, block.down)]
    return TowerParts(tower.device, tower.dtype, cards, products, [block.attention for block in blocks])


def _deepseek_parts(model: Any) -> TowerParts:
    layers = model.vision_model.transformer.layers
    products = [layer for block in layers for layer in (block.self_attn.qkv_proj, block.self_attn.out_proj)]
    attentions = [block.self_attn.attn for block in layers]
    clip = model.vision_model
    return TowerParts(clip.device, clip.dtype, layers[0].self_attn.tp_size, products, attentions)


def _check_glm(tower: Any) -> None:
    for block in tower.blocks:
        _check_glm_block(block, tower.hidden_size)
    side = tower.spatial_merge_size
    known = tuple(tower.downsample.weight.shape[1:]) == (tower.hidden_size, side, side)
    if not (known and type(tower.merger.act_fn).__name__ == "SiluAndMul"):
        raise Unsupported("its last layers have other shapes")


def _check_glm_block(block: Any, width: int) -> None:
    attention, mlp = block.attn, block.mlp
    size = attention.head_dim
    shapes = {
        "norm": block.norm1.weight.shape == block.norm2.weight.shape == (width,),
        "heads": attention.q_norm.weight.shape == attention.k_norm.weight.shape == (size,),
        "even": size % 2 == 0,
        "gate": type(mlp.act_fn).__name__ == "SiluAndMul",
        "width": max(width, mlp.gate_up_proj.output_size_per_partition // 2) <= MAX_WIDTH,
        "turn": attention.apply_rotary_emb.is_neox_style,
    }
    _refuse(shapes)


def _check_paddle(model: Any) -> None:
    embeddings, last = model.visual.vision_model.embeddings, model.mlp_AR
    width = embeddings.patch_embedding.weight.shape[0]
    _check_blocks(siglip_blocks(model), width)
    turns = [layer.self_attn.apply_rotary_emb for layer in model.visual.vision_model.encoder.layers]
    square = _is_square(embeddings.position_embedding.weight.shape[0])
    known = tuple(last.merge_kernel_size) == (2, 2) and last.hidden_size == 4 * width
    if not (square and known and all(turn.is_neox_style for turn in turns)):
        raise Unsupported("its first or last layers have other shapes")


def _check_qwen(tower: Any) -> None:
    _check_blocks(qwen_blocks(tower), tower.hidden_size)
    turns = all(block.attn.apply_rotary_emb.is_neox_style for block in tower.blocks)
    deep = len(tower.deepstack_merger_list) == len(tower.deepstack_visual_indexes)
    if not (turns and deep and _is_square(tower.pos_embed.weight.shape[0])):
        raise Unsupported("its first or last layers have other shapes")


def _check_blocks(blocks: Sequence[TowerBlock], width: int) -> None:
    for block in blocks:
        shapes = {
            "norm": block.norm1.weight.shape == block.norm2.weight.shape == (width,),
            "bias": block.norm1.bias is not None and block.up.bias is not None,
            "heads": width % (2 * block.heads) == 0,
            "gate": getattr(block.bend, "approximate", "") == "tanh",
            "width": width <= MAX_WIDTH,
        }
        _refuse(shapes)


def _check_deepseek(model: Any) -> None:
    for block in model.sam_model.blocks:
        attention = block.attn
        size = attention.qkv.weight.shape[1] // attention.num_heads
        shapes = {
            "places": attention.use_rel_pos and attention.rel_pos_h.shape[1] == size,
            "scale": attention.scale == size**-0.5,
        }
        _refuse(shapes)
    if model.image_newline.shape != model.view_seperator.shape:
        raise Unsupported("its last layers have other shapes")


def _refuse(shapes: dict[str, bool]) -> None:
    if wrong := [name for name, right in shapes.items() if not right]:
        raise Unsupported(f"its blocks have another shape ({', '.join(wrong)})")


def _is_square(count: int) -> bool:
    return int(count**0.5) ** 2 == count


PLACES = (
    TowerPlace(
        name="GLM-OCR",
        room="glm_ocr",
        model="GlmOcrForConditionalGeneration",
        owner="GlmOcrVisionTransformer",
        held="visual",
        method="forward",
        arguments=("x", "grid_thw"),
        parts=_glm_parts,
        check=_check_glm,
        eight_bits=True,
        splits=True,
    ),
    TowerPlace(
        name="PaddleOCR-VL",
        room="paddleocr_vl",
        model="PaddleOCRVLForConditionalGeneration",
        owner="PaddleOCRVLForConditionalGeneration",
        method="_process_image_input",
        arguments=("image_input",),
        parts=_paddle_parts,
        check=_check_paddle,
    ),
    TowerPlace(
        name="Qwen3-VL",
        room="qwen3_vl",
        model="Qwen3VLForConditionalGeneration",
        owner="Qwen3_VisionTransformer",
        held="visual",
        method="forward",
        arguments=("x", "grid_thw"),
        parts=_qwen_parts,
        check=_check_qwen,
    ),
    TowerPlace(
        name="DeepSeek-OCR",
        room="deepseek_ocr",
        model="DeepseekOCRForCausalLM",
        owner="DeepseekOCRForCausalLM",
        method="_pixel_values_to_embedding",
        arguments=("pixel_values", "images_crop", "images_spatial_crop"),
        parts=_deepseek_parts,
        check=_check_deepseek,
    ),
)
