"""Writes the networks as ONNX with weights in 16 bits: export.py student.pt OUT_FOLDER."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import onnx
import torch
from network import Student
from onnx import numpy_helper
from order import Order
from torch import nn


def folded(net: nn.Module) -> nn.Module:
    """Norms become part of the convolutions before them."""
    for module in list(net.modules()):
        if isinstance(module, nn.Sequential) and len(module) > 1 and isinstance(module[1], nn.BatchNorm2d):
            module[0] = torch.nn.utils.fuse_conv_bn_eval(module[0], module[1])
            module[1] = nn.Identity()
    return net


def halved(path: Path) -> None:
    """Keeps large weights in 16 bits; a cast turns them back when the file is opened."""
    model = onnx.load(str(path))
    casts = []
    for each in model.graph.initializer:
        value = numpy_helper.to_array(each)
        if value.dtype != np.float32 or value.size < 256:
            continue
        small = numpy_helper.from_array(value.astype(np.float16), each.name + "_16")
        casts.append(onnx.helper.make_node("Cast", [small.name], [each.name], to=onnx.TensorProto.FLOAT))
        each.CopyFrom(small)
    for cast in reversed(casts):
        model.graph.node.insert(0, cast)
    onnx.checker.check_model(model)
    onnx.save(model, str(path))


class OneInput(nn.Module):
    """The order network on rows of x0, y0, x1, y1, label."""

    def __init__(self, order: Order) -> None:
        super().__init__()
        self.order = order

    def forward(self, blocks: torch.Tensor) -> torch.Tensor:
        return self.order(blocks[..., :4], blocks[..., 4].long())


def main() -> None:
    held = torch.load(sys.argv[1], map_location="cpu", weights_only=True)
    out = Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    student, order = Student(), Order()
    student.load_state_dict({name: value.float() for name, value in held["student"].items()}, strict=False)
    order.load_state_dict({name: value.float() for name, value in held["order"].items()})
    net = folded(student.eval())
    shape = {2: "height", 3: "width"}
    torch.onnx.export(
        net, (torch.zeros(1, 3, 1024, 768),), str(out / "student.onnx"), dynamo=False, opset_version=17,
        input_names=["image"], output_names=["kinds", "sides", "way"], dynamic_axes={"image": shape},
    )  # fmt: skip
    torch.onnx.export(
        OneInput(order).eval(), (torch.rand(1, 7, 5),), str(out / "order.onnx"), dynamo=False, opset_version=17,  # noqa: E501
        input_names=["blocks"], output_names=["before"], dynamic_axes={"blocks": {1: "count"}},
    )  # fmt: skip
    for name in ("student.onnx", "order.onnx"):
        halved(out / name)
        print(name, (out / name).stat().st_size)


if __name__ == "__main__":
    main()
