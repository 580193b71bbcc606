"""The formula recogniser's tools: a checkpoint comes back, and what is exported reads as the network does."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock.engines.formula.picture import prepared
from penstock.engines.formula.reader import FormulaReader
from tests.conftest import REPO

torch = pytest.importorskip("torch")


@pytest.fixture
def tool(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Imports a module of tools/formulas, and forgets all of them after the test: their names are common."""
    before = set(sys.modules)
    for folder in ("training", "formulas"):
        monkeypatch.syspath_prepend(str(REPO / "tools" / folder))
    yield importlib.import_module
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(REPO / "tools")):
            del sys.modules[name]


def test_a_checkpoint_comes_back_up_to_its_rounding(tool: Any, tmp_path: Path) -> None:
    checkpoint = tool("checkpoint")
    weights = {"a": torch.randn(40, 30), "b": torch.randn(7)}
    moments = {"a": (torch.randn(40, 30) * 1e-3, torch.rand(40, 30) * 1e-6)}
    checkpoint.save(tmp_path, weights, moments, {"batch": 3})
    checkpoint.save(tmp_path, weights, moments, {"batch": 4})
    found, found_moments, state = checkpoint.load(tmp_path)
    assert state == {"batch": 4}
    assert len(list(tmp_path.iterdir())) == 2  # the older one is gone
    assert all(torch.allclose(found[name], value, rtol=1e-4) for name, value in weights.items())
    mean, square = found_moments["a"]
    assert torch.allclose(mean, moments["a"][0], atol=4e-5)
    assert torch.allclose(square, moments["a"][1], rtol=0.1, atol=1e-12)


def test_a_spoiled_checkpoint_is_refused(tool: Any, tmp_path: Path) -> None:
    checkpoint = tool("checkpoint")
    checkpoint.save(tmp_path, {"a": torch.randn(4)}, {}, {})
    [part] = [file for file in tmp_path.iterdir() if file.suffix == ".0"]
    part.write_bytes(part.read_bytes()[:-1])
    with pytest.raises(ValueError, match="not whole"):
        checkpoint.load(tmp_path)


def test_steps_with_a_memory_say_what_a_whole_sequence_says(tool: Any) -> None:
    model = tool("model")
    network = model.FormulaNetwork(model.TINY).eval()
    pictures, tokens = torch.rand(2, 1, 64, 96), torch.randint(4, 100, (2, 6))
    whole = network(pictures, tokens).odds
    looked = network.looked(network.encode(pictures))
    past = [(torch.zeros(2, 4, 0, 16), torch.zeros(2, 4, 0, 16)) for _ in range(2)]
    for at in range(6):
        odds, past = network.step(tokens[:, at : at + 1], torch.tensor([at]), looked, past)
        assert torch.allclose(odds[:, 0], whole[:, at], atol=1e-4)


def test_the_decoder_is_told_to_look_where_the_next_sign_is_drawn(tool: Any) -> None:
    data = tool("data")
    nowhere = data.NOWHERE
    places = np.array([(3, 20), nowhere, (17, 5), nowhere], np.float32)  # as of x ^ { 2 }, in pixels
    cells, drawn = data.cells_of(places, (32, 64))  # two rows of eight cells
    assert cells.tolist() == [8, 2, 2, 2, 2]
    assert drawn.tolist() == [True, False, True, False, False]
    cells, drawn = data.cells_of(np.array([nowhere], np.float32), (32, 64))
    assert cells.tolist() == [-1, -1] and not drawn.any()


def test_formulas_grow_longer_and_a_loss_comes_of_writing_seeing_and_looking(tool: Any) -> None:
    data, model = tool("data"), tool("model")
    recipe = data.Recipe(growth=100)
    assert [recipe.max_tokens(number) for number in (0, 50, 100)] == [8, 50, 320]
    assert data.Recipe(growth=0).max_tokens(0) == 320
    network = model.FormulaNetwork(model.TINY)
    wanted, cells = torch.randint(4, 100, (2, 6)), torch.randint(0, 48, (2, 6))
    said = network(torch.rand(2, 1, 64, 96), wanted, cells)
    parts = model.loss_of(said, wanted, cells, torch.ones(2, 6, dtype=torch.bool))
    assert set(parts) == {"written", "seen", "looked"}
    sum(parts.values()).backward()
    assert all(one.grad is not None for one in network.parameters())


@pytest.mark.filterwarnings("ignore")  # PyTorch calls the exporter by tracing old
def test_the_export_reads_as_the_network_does(tool: Any, tmp_path: Path) -> None:
    pytest.importorskip("onnx")
    model, export, vocabulary = tool("model"), tool("export"), tool("vocabulary")
    torch.manual_seed(3)
    network = model.FormulaNetwork(model.TINY).eval()
    export.export(network, tmp_path, small=False)
    picture = np.full((50, 120), 240, np.uint8)
    picture[20:30, 10:100] = 20
    reader = FormulaReader(tmp_path)
    said = reader.read_formula(picture)[0].split()
    told = network.read(torch.from_numpy(prepared(picture)), vocabulary.START_ID, vocabulary.END_ID)[0]
    wanted = vocabulary.decode(told)
    assert (
        said and said == wanted[: len(said)]
    )  # a network that learned nothing runs in circles: the reader stops
