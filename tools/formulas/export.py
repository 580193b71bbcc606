"""Writes a checkpoint as the files that our package reads: two ONNX graphs, products in int8, and tokens.

    export PYTHONPATH=../../src:../training
    python export.py --checkpoint build/formula --out weights/formula

Needs torch, onnx and onnxruntime. The last line is JSON with the sizes.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

import checkpoint
import torch
from model import FormulaNetwork, Sizes
from torch import Tensor, nn
from vocabulary import END_ID, START_ID, TOKENS, written

OPSET = 17
MAX_BYTES = 15_000_000


class Encoder(nn.Module):
    """A picture to what each decoder layer sees of it: layers x 1 x heads x places x head width, twice."""

    def __init__(self, network: FormulaNetwork) -> None:
        super().__init__()
        self.network = network

    def forward(self, picture: Tensor) -> tuple[Tensor, Tensor]:
        looked = self.network.looked(self.network.encode(picture))
        return torch.stack([keys for keys, _ in looked]), torch.stack([values for _, values in looked])


class Step(nn.Module):
    """One step of the decoder."""

    def __init__(self, network: FormulaNetwork) -> None:
        super().__init__()
        self.network = network

    def forward(
        self,
        token: Tensor,
        at: Tensor,
        looked_keys: Tensor,
        looked_values: Tensor,
        past_keys: Tensor,
        past_values: Tensor,
    ) -> tuple[Tensor, Tensor, Tensor]:
        count = self.network.sizes.decoder_layers
        looked = [(looked_keys[layer], looked_values[layer]) for layer in range(count)]
        past = [(past_keys[layer], past_values[layer]) for layer in range(count)]
        odds, kept = self.network.step(token, at, looked, past)
        return (
            odds[:, -1],
            torch.stack([keys for keys, _ in kept]),
            torch.stack([values for _, values in kept]),
        )


def network_of(folder: Path) -> FormulaNetwork:
    """The network of a checkpoint."""
    found = checkpoint.load(folder)
    if found is None:
        raise SystemExit(f"{folder} holds no checkpoint.")
    weights, _, state = found
    told = json.loads(state["sizes"])
    sizes = Sizes(
        **{name: tuple(value) if isinstance(value, list) else value for name, value in told.items()}
    )
    network = FormulaNetwork(sizes)
    network.load_state_dict(weights)
    return network.eval()


def export(network: FormulaNetwork, out: Path, small: bool = True) -> dict[str, int]:
    """Writes the three files; returns their sizes. `small` makes products int8."""
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder)
        _write_encoder(network, plain / "encoder.onnx")
        _write_decoder(network, plain / "decoder.onnx")
        for name in ("encoder.onnx", "decoder.onnx"):
            if small:
                _quantise(plain / name, out / name)
            else:
                (out / name).write_bytes((plain / name).read_bytes())
    (out / "tokens.json").write_text(json.dumps(_told(network.sizes), indent=0))
    return {file.name: file.stat().st_size for file in sorted(out.iterdir())}


def _told(sizes: Sizes) -> dict[str, object]:
    return {
        "written": [written(token) for token in TOKENS],
        "start": START_ID,
        "end": END_ID,
        "max_steps": sizes.max_steps,
        "layers": sizes.decoder_layers,
        "heads": sizes.heads,
        "head_width": sizes.widths[2] // sizes.heads,
        "licence": "Apache-2.0",
    }


def _write_encoder(network: FormulaNetwork, file: Path) -> None:
    torch.onnx.export(
        Encoder(network),
        (torch.zeros(1, 1, 64, 192),),
        str(file),
        input_names=["picture"],
        output_names=["looked_keys", "looked_values"],
        dynamic_axes={
            "picture": {2: "height", 3: "width"},
            "looked_keys": {3: "places"},
            "looked_values": {3: "places"},
        },
        opset_version=OPSET,
        dynamo=False,
    )


def _write_decoder(network: FormulaNetwork, file: Path) -> None:
    sizes = network.sizes
    kept = torch.zeros(sizes.decoder_layers, 1, sizes.heads, 5, sizes.widths[2] // sizes.heads)
    names = ["token", "at", "looked_keys", "looked_values", "past_keys", "past_values"]
    torch.onnx.export(
        Step(network),
        (
            torch.ones(1, 1, dtype=torch.long),
            torch.tensor([5]),
            kept.repeat(1, 1, 1, 3, 1),
            kept.repeat(1, 1, 1, 3, 1),
            kept,
            kept,
        ),
        str(file),
        input_names=names,
        output_names=["odds", "keys", "values"],
        dynamic_axes={
            **{name: {3: "places"} for name in names[2:4]},
            **{name: {3: "steps"} for name in names[4:]},
            **{name: {3: "steps_and_one"} for name in ("keys", "values")},
        },
        opset_version=OPSET,
        dynamo=False,
    )


def _quantise(plain: Path, small: Path) -> None:
    from onnxruntime.quantization import QuantType, quantize_dynamic

    quantize_dynamic(
        plain, small, op_types_to_quantize=["MatMul", "Gemm"], per_channel=True, weight_type=QuantType.QInt8
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--checkpoint", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument(
        "--plain", action="store_true", help="leave products in float32, to see what int8 costs"
    )
    options = parser.parse_args()
    sizes = export(network_of(options.checkpoint), options.out, small=not options.plain)
    total = sum(sizes.values())
    assert options.plain or total <= MAX_BYTES, f"{total} bytes are more than {MAX_BYTES}"
    print(json.dumps({**sizes, "bytes": total}))


if __name__ == "__main__":
    main()
