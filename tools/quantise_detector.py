"""Makes the detector of PP-OCRv6 small a third as costly: its convolutions in whole numbers of 8 bits.

    pip install onnx
    python tools/quantise_detector.py [OUT]

Writes src/penstock/engines/ocr/network/det_small_int8.onnx from the weights that `penstock models fetch`
brings. How large numbers become inside the network is looked up on pages of the sample document, in two
sizes, clean, noisy and blurred. Weights keep 7 bits: processors without VNNI add two products in 16 bits,
which 8 bits would overflow. The first convolution and the last three stay as they are; they cost little and
place the edges. What it loses and saves: `benchmarks/quality/score_all.py`, `benchmarks/cpu/bench_parse.py`.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import onnx
import onnxruntime
import pypdfium2 as pdfium
from onnx import helper, version_converter
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static

import penstock
from penstock.engines.ocr import detect
from penstock.engines.weights import registry as weights

PACKAGE = Path(penstock.__file__).parent
SAMPLE = PACKAGE / "sample" / "sample.pdf"
OUT = PACKAGE / "engines" / "ocr" / "network" / "det_small_int8.onnx"
DPI = (111, 150)  # the reader shows A4 pages at 111
FIRST, LAST = 1, 3  # convolutions that stay in floating point


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path, nargs="?", default=OUT)
    out = parser.parse_args().out
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / "plain.onnx"
        model = with_gelus(simplified(weights.path("ppocrv6-det-small"), plain))
        onnx.save(model, plain)
        convolutions = [node.name for node in model.graph.node if node.op_type in ("Conv", "ConvTranspose")]
        quantize_static(
            plain,
            out,
            SamplePages(model.graph.input[0].name),
            quant_format=QuantFormat.QDQ,
            per_channel=True,
            reduce_range=True,
            activation_type=QuantType.QUInt8,
            weight_type=QuantType.QInt8,
            op_types_to_quantize=["Conv", "ConvTranspose"],
            nodes_to_exclude=[*convolutions[:FIRST], *convolutions[-LAST:]],
        )
    print(f"{out}: {out.stat().st_size / 1e6:.1f} MB")


def simplified(path: Path, scratch: Path) -> Any:
    """The network without nodes that do nothing, in a version of the format that has scales by channel."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.optimized_model_filepath = str(scratch)
    onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    model = version_converter.convert_version(onnx.load(scratch), 13)
    for number, node in enumerate(model.graph.node):
        node.name = node.name or f"{node.op_type}_{number}"
    return model


def with_gelus(model: Any) -> Any:
    """The network with each x/2 (1 + erf(x/sqrt 2)) as one node, which onnxruntime would not see later."""
    nodes = list(model.graph.node)
    users: dict[str, list[Any]] = {}
    makers = {name: node for node in nodes for name in node.output}
    for node in nodes:
        for name in node.input:
            users.setdefault(name, []).append(node)
    gone: set[str] = set()
    gelus: dict[str, Any] = {}  # by the name of the node whose place each takes
    for erf in (node for node in nodes if node.op_type == "Erf"):
        parts = _gelu_parts(erf, makers, users)
        gone |= {part.name for part in parts}
        divided, last = parts[0], parts[-1]
        gelus[last.name] = helper.make_node(
            "Gelu", [divided.input[0]], list(last.output), name=f"Gelu_{len(gelus)}", domain="com.microsoft"
        )
    kept = [gelus.get(node.name, node) for node in nodes if node.name not in gone or node.name in gelus]
    del model.graph.node[:]
    model.graph.node.extend(kept)
    model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    return _without_unused(model)


def _gelu_parts(erf: Any, makers: dict[str, Any], users: dict[str, list[Any]]) -> list[Any]:
    """x / sqrt 2, erf, + 1, times x, times a half: one node each, as the export wrote them."""
    divided = makers[erf.input[0]]
    [added] = users[erf.output[0]]
    [multiplied] = users[added.output[0]]
    [halved] = users[multiplied.output[0]]
    parts = [divided, erf, added, multiplied, halved]
    if [part.op_type for part in parts] != ["Div", "Erf", "Add", "Mul", "Mul"]:
        raise SystemExit(f"{erf.name} is no part of a GELU that this tool knows.")
    return parts


def _without_unused(model: Any) -> Any:
    used = {name for node in model.graph.node for name in node.input}
    kept = [weight for weight in model.graph.initializer if weight.name in used]
    del model.graph.initializer[:]
    model.graph.initializer.extend(kept)
    return model


class SamplePages(CalibrationDataReader):  # type: ignore[misc]  # onnxruntime has no types
    """The sample's pages as the detector is shown them."""

    def __init__(self, name: str) -> None:
        self._name, self._shown = name, _shown_pages()

    def get_next(self) -> dict[str, Any] | None:
        page = next(self._shown, None)
        return None if page is None else {self._name: detect.as_input(page)}


def _shown_pages() -> Iterator[Any]:
    random = np.random.default_rng(7)
    with pdfium.PdfDocument(SAMPLE) as document:
        for number in range(len(document)):
            for dpi in DPI:
                page = np.ascontiguousarray(document[number].render(scale=dpi / 72).to_numpy()[:, :, 2::-1])
                yield page
                noisy = cv2.GaussianBlur(page, (0, 0), 0.8) * 0.9 + random.normal(10, 6, page.shape)
                yield np.clip(noisy, 0, 255).astype(np.uint8)
                yield cv2.GaussianBlur(page, (0, 0), 3.0)


if __name__ == "__main__":
    main()
