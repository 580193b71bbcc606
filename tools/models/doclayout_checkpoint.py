"""Makes a torch checkpoint of PP-DocLayoutV3 from its publisher's ONNX file, tensor by tensor.

    python tools/models/doclayout_checkpoint.py PP-DocLayoutV3.onnx FOLDER

Needs torch and transformers. FOLDER then holds config.json and model.safetensors for `--layout-model FOLDER`.
Every weight of the file is used once, except those whose module the file repeats; every tensor of the model
is filled, except what only training uses. A shape that differs, a name left over on either side: an error.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))
from protobuf import fields, varint

Tensors = dict[str, Any]
GRAPH, INITIALIZER = 7, 5  # fields of ONNX's ModelProto and GraphProto
DIMS, DTYPE, NAME, RAW = 1, 2, 8, 9  # fields of TensorProto
FLOAT = 1  # a TensorProto's data type
SHARED = re.compile(r"(_deepcopy_\d+)+$")  # the exporter numbers each use of a layer's weights

NUM_BACKBONE = 80  # convolutions of the backbone, in the order in which both programs make them
FIRST_NORM = 80  # number of the norm that follows convolution 0
BARE = 126  # this convolution has no norm, so those after it are numbered one less
DECODER_LAYERS = 6
# convolutions with a norm, beyond the backbone: number -> module
NORMED = {
    **{80 + i: f"encoder_input_proj.{i}" for i in range(3)},
    83: "encoder.lateral_convs.0", 92: "encoder.lateral_convs.1",
    84: "encoder.fpn_blocks.0.conv1", 85: "encoder.fpn_blocks.0.conv2",
    93: "encoder.fpn_blocks.1.conv1", 94: "encoder.fpn_blocks.1.conv2",
    101: "encoder.downsample_convs.0", 110: "encoder.downsample_convs.1",
    102: "encoder.pan_blocks.0.conv1", 103: "encoder.pan_blocks.0.conv2",
    111: "encoder.pan_blocks.1.conv1", 112: "encoder.pan_blocks.1.conv2",
    119: "encoder.mask_feature_head.scale_heads.0.layers.0",
    120: "encoder.mask_feature_head.scale_heads.1.layers.0",
    121: "encoder.mask_feature_head.scale_heads.2.layers.0",
    122: "encoder.mask_feature_head.scale_heads.2.layers.2",
    123: "encoder.mask_feature_head.output_conv",
    124: "encoder.encoder_mask_lateral", 125: "encoder.encoder_mask_output.base_conv",
    **{127 + i: f"decoder_input_proj.{i}" for i in range(3)},
}  # fmt: skip
# the export adds up a block's two convolutions: the first of each block's three -> its place, its bias
MERGED = {
    130: ("encoder.fpn_blocks.0", 5), 133: ("encoder.fpn_blocks.1", 8),
    136: ("encoder.pan_blocks.0", 11), 139: ("encoder.pan_blocks.1", 14),
}  # fmt: skip
LINEAR = {
    "linear_10": "decoder.query_pos_head.layers.0", "linear_11": "decoder.query_pos_head.layers.1",
    "linear_12": "mask_query_head.layers.0", "linear_13": "mask_query_head.layers.1",
    "linear_14": "mask_query_head.layers.2",
    "linear_15": "enc_output.0", "linear_16": "enc_score_head",
    "linear_17": "decoder.bbox_embed.layers.0", "linear_18": "decoder.bbox_embed.layers.1",
    "linear_19": "decoder.bbox_embed.layers.2",
    "linear_25": f"decoder_order_head.{DECODER_LAYERS - 1}", "linear_26": "decoder_global_pointer.dense",
}  # fmt: skip
NORMS = {"layer_norm_5": "enc_output.1", "layer_norm_6": "decoder_norm"}
ENCODER_LAYER = {
    "linear_0": "self_attn.o_proj", "layer_norm_0": "self_attn_layer_norm",
    "linear_1": "mlp.fc1", "linear_2": "mlp.fc2", "layer_norm_1": "final_layer_norm",
}  # fmt: skip
DECODER_LAYER = {
    "linear_3": "self_attn.o_proj", "layer_norm_2": "self_attn_layer_norm",
    "linear_4": "encoder_attn.sampling_offsets", "linear_5": "encoder_attn.attention_weights",
    "linear_6": "encoder_attn.value_proj", "linear_7": "encoder_attn.output_proj",
    "layer_norm_3": "encoder_attn_layer_norm",
    "linear_8": "mlp.fc1", "linear_9": "mlp.fc2", "layer_norm_4": "final_layer_norm",
}  # fmt: skip
ENCODER_SLICE = 0  # numbers of the slices that the exporter cut query, key and value out of
DECODER_SLICES = tuple(8 + 13 * layer for layer in range(DECODER_LAYERS))
# tied in the model: the same weights under a second name
TIED = {
    "decoder.class_embed": "enc_score_head",
    **{f"enc_bbox_head.layers.{i}": f"decoder.bbox_embed.layers.{i}" for i in range(3)},
}
# the answer of the last decoder layer alone is used, so the export has no others
ONLY_LAST = {f"decoder_order_head.{i}": f"decoder_order_head.{DECODER_LAYERS - 1}" for i in range(5)}
TRAINING_ONLY = ("denoising_class_embed.weight",)


def initializers(content: bytes) -> dict[str, list[np.ndarray]]:
    """Returns the file's float tensors by name, in the order of the file; a layer used n times has n."""
    found: dict[str, list[np.ndarray]] = {}
    graph = next(each for each in fields(content, 0, len(content)) if each.number == GRAPH)
    for field in fields(content, graph.start, graph.end):
        if field.number != INITIALIZER:
            continue
        name, tensor = _tensor(content, field.start, field.end)
        if tensor is not None:
            found.setdefault(SHARED.sub("", name), []).append(tensor)
    return found


def _tensor(content: bytes, start: int, end: int) -> tuple[str, np.ndarray | None]:
    dims: list[int] = []
    name, raw, dtype = "", b"", 0
    for field in fields(content, start, end):
        if field.number == DIMS:
            dims += _numbers(content, field.start, field.end)
        elif field.number == DTYPE:
            dtype, _ = varint(content, field.start)
        elif field.number == NAME:
            name = content[field.start : field.end].decode()
        elif field.number == RAW:
            raw = content[field.start : field.end]
    if dtype != FLOAT:
        return name, None
    return name, np.frombuffer(raw, dtype="<f4").reshape(dims)


def _numbers(content: bytes, at: int, end: int) -> Iterator[int]:
    while at < end:
        value, at = varint(content, at)
        yield value


class Filling:
    """The model's tensors as they are filled. `given` is emptied on the way."""

    def __init__(self, given: dict[str, list[np.ndarray]], shapes: dict[str, tuple[int, ...]]) -> None:
        self.given = given
        self.shapes = shapes
        self.filled: dict[str, np.ndarray] = {}

    def take(self, name: str) -> np.ndarray:
        values = self.given[name]
        value = values.pop(0)
        if not values:
            del self.given[name]
        return value

    def put(self, name: str, value: np.ndarray) -> None:
        if name in self.filled or self.shapes[name] != value.shape:
            raise ValueError(f"{name}: twice, or {value.shape} for {self.shapes[name]}")
        self.filled[name] = np.ascontiguousarray(value)

    def convolution(self, number: int, module: str) -> None:
        conv, norm = self._names(module)
        self.put(f"{conv}.weight", self.take(f"conv2d_{number}.w_0"))
        self.norm(number + FIRST_NORM - (number > BARE), norm)

    def norm(self, number: int, module: str) -> None:
        parts = {"weight": "w_0", "bias": "b_0", "running_mean": "w_1", "running_var": "w_2"}
        for ours, theirs in parts.items():
            self.put(f"{module}.{ours}", self.take(f"batch_norm2d_{number}.{theirs}"))

    def _names(self, module: str) -> tuple[str, str]:
        """Returns the names of a module's convolution and norm, however its class calls them."""
        pairs = (("conv", "norm"), ("convolution", "normalization"), ("0", "1"))
        return next(
            (f"{module}.{conv}", f"{module}.{norm}")
            for conv, norm in pairs
            if f"{module}.{conv}.weight" in self.shapes
        )

    def merged(self, first: int, block: str, first_bias: int) -> None:
        """Fills a block's three pairs of convolutions: their sum into the first, nothing into the second."""
        for i in range(3):
            wide, narrow = (f"{block}.bottlenecks.{i}.conv{n}" for n in (1, 2))
            weight = self.take(f"conv2d_{first + i}.w_0")
            self.put(f"{wide}.conv.weight", weight)
            self.put(f"{narrow}.conv.weight", np.zeros((*weight.shape[:2], 1, 1), np.float32))
            bias = self.take(f"p2o.pd_op.reshape.{first_bias + i}.0").reshape(-1)
            self.neutral_norm(f"{wide}.norm", bias)
            self.neutral_norm(f"{narrow}.norm", np.zeros_like(bias))

    def neutral_norm(self, module: str, bias: np.ndarray) -> None:
        """Fills a norm that only adds a bias."""
        one = np.ones_like(bias)
        self.put(f"{module}.weight", one)
        self.put(f"{module}.bias", bias)
        self.put(f"{module}.running_mean", np.zeros_like(bias))
        self.put(f"{module}.running_var", one - np.float32(1e-5))  # the norm's epsilon comes on top

    def linear(self, name: str, module: str) -> None:
        """Fills a linear layer, whose matrix lies the other way round in the file."""
        self.put(f"{module}.weight", self.take(f"{name}.w_0").T)
        self.put(f"{module}.bias", self.take(f"{name}.b_0"))

    def layer_norm(self, name: str, module: str) -> None:
        self.put(f"{module}.weight", self.take(f"{name}.w_0"))
        self.put(f"{module}.bias", self.take(f"{name}.b_0"))

    def named(self, names: dict[str, str], prefix: str = "") -> None:
        for name, module in names.items():
            fill = self.layer_norm if name.startswith("layer_norm") else self.linear
            fill(name, prefix + module)

    def attention(self, first_slice: int, layer: str) -> None:
        for i, part in enumerate("qkv"):
            module = f"{layer}.self_attn.{part}_proj"
            self.put(f"{module}.weight", self.take(f"p2o.pd_op.slice.{first_slice + 2 * i}.0").T)
            self.put(f"{module}.bias", self.take(f"p2o.pd_op.slice.{first_slice + 2 * i + 1}.0"))


def fill(given: dict[str, list[np.ndarray]], shapes: dict[str, tuple[int, ...]]) -> dict[str, np.ndarray]:
    """Returns the model's tensors by name. Raises KeyError or ValueError where the two do not fit."""
    filling = Filling(given, shapes)
    for number, module in enumerate(_backbone(shapes)):
        filling.convolution(number, module)
    for number, module in NORMED.items():
        filling.convolution(number, module)
    for number, (block, bias) in MERGED.items():
        filling.merged(number, block, bias)
    filling.put("encoder.encoder_mask_output.conv.weight", filling.take(f"conv2d_{BARE}.w_0"))
    filling.put("encoder.encoder_mask_output.conv.bias", filling.take("p2o.pd_op.reshape.17.0").reshape(-1))
    filling.named(LINEAR | NORMS)
    filling.named(ENCODER_LAYER, "encoder.aifi.0.layers.0.")
    filling.attention(ENCODER_SLICE, "encoder.aifi.0.layers.0")
    for layer, first_slice in enumerate(DECODER_SLICES):
        filling.named(DECODER_LAYER, f"decoder.layers.{layer}.")
        filling.attention(first_slice, f"decoder.layers.{layer}")
    for module, origin in (TIED | ONLY_LAST).items():
        for part in ("weight", "bias"):
            filling.put(f"{module}.{part}", filling.filled[f"{origin}.{part}"])
    for name in TRAINING_ONLY:
        filling.put(name, np.zeros(shapes[name], np.float32))
    if missing := set(shapes) - set(filling.filled):
        raise ValueError(f"not filled: {sorted(missing)}")
    if left := [name for name in given if re.match(r"(conv2d|batch_norm2d|linear|layer_norm)_", name)]:
        raise ValueError(f"left over: {left}")
    return filling.filled


def _backbone(shapes: dict[str, tuple[int, ...]]) -> list[str]:
    """Returns the backbone's convolutions in the order in which they were made."""
    ending = ".convolution.weight"
    found = [name.removesuffix(ending) for name in shapes if "backbone" in name and name.endswith(ending)]
    if len(found) != NUM_BACKBONE:
        raise ValueError(f"{len(found)} convolutions in the backbone, not {NUM_BACKBONE}")
    return found


def convert(onnx_file: Path, folder: Path, part: str = "1GB") -> None:
    """`part` is the size that no file of FOLDER exceeds."""
    import torch
    from transformers import PPDocLayoutV3Config, PPDocLayoutV3ForObjectDetection

    from penstock.region import LABELS

    model = PPDocLayoutV3ForObjectDetection(PPDocLayoutV3Config(id2label=dict(enumerate(LABELS))))
    state = model.model.state_dict()
    counts = "num_batches_tracked"  # of training
    shapes = {name: tuple(each.shape) for name, each in state.items() if not name.endswith(counts)}
    filled = fill(initializers(onnx_file.read_bytes()), shapes)
    state |= {name: torch.from_numpy(value.copy()) for name, value in filled.items()}
    model.model.load_state_dict(state)
    model.save_pretrained(folder, max_shard_size=part)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    convert(Path(sys.argv[1]), Path(sys.argv[2]))
