"""The tools of the reader of other scripts: what it learns from, how, and that its export says the same."""

from __future__ import annotations

import importlib
import io
import json
import lzma
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.conftest import REPO

torch = pytest.importorskip("torch")
WORDS = {
    "cyrillic": ["слово", "дом", "річка"],
    "greek": ["λόγος", "σπίτι", "ώρα"],
    "arabic": ["كتاب", "بيت", "گل"],
    "hebrew": ["ספר", "בית", "מים"],
    "devanagari": ["किताब", "घर", "पानी"],
    "thai": ["หนังสือ", "บ้าน", "น้ำ"],
    "latin": ["File", "open", "Name"],
}


@pytest.fixture
def tool(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Imports a module of tools/scripts, and forgets all of them after the test."""
    before = set(sys.modules)
    monkeypatch.setattr(sys, "path", list(sys.path))
    for folder in ("training", "hangul", "scripts"):
        monkeypatch.syspath_prepend(str(REPO / "tools" / folder))
    yield importlib.import_module
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(REPO / "tools")):
            del sys.modules[name]


def _texts(tool: Any, folder: Path) -> Any:
    held = {script: {"words": words * 30, "sentences": words * 30} for script, words in WORDS.items()}
    file = folder / "texts.json.xz"
    file.write_bytes(lzma.compress(json.dumps(held).encode()))
    return tool("script_lines").ScriptTexts(file)


def _face(tool: Any, folder: Path) -> Any:
    """Pillow's own font: Latin alone."""
    from PIL import ImageFont

    file = folder / "font.ttf"
    content = ImageFont.load_default(20).path  # type: ignore[union-attr]
    assert isinstance(content, io.BytesIO)
    file.write_bytes(content.getvalue())
    return tool("shaping").ScriptFace("own", "cyrillic", (file,), 1.0, False)


def test_every_sign_has_a_class_of_its_own_and_each_script_its_letters(tool: Any) -> None:
    signs = tool("script_signs")
    text = "".join(signs.SIGNS)
    assert len(set(text)) == len(text) == signs.NUM_CLASSES - 1
    assert signs.text_of(signs.classes_of(text)) == text
    assert all(signs.written(letters) for letters in signs.LETTERS.values())


def test_what_looks_alike_is_written_in_one_way_and_what_has_no_shape_not_at_all(tool: Any) -> None:
    assert tool("script_signs").written(" a\u2011b\u00a0 می\u200cروم ســلام 漢 ") == "a-b میروم سلام"


def test_lines_come_the_same_for_the_same_dice_and_are_of_known_signs(tool: Any, tmp_path: Path) -> None:
    texts, signs = _texts(tool, tmp_path), tool("script_signs")
    for script in signs.SCRIPTS:
        made = [texts.lines(script, np.random.default_rng(number), 30) for number in range(60)]
        assert made == [texts.lines(script, np.random.default_rng(number), 30) for number in range(60)]
        assert len(set(made)) > 40
        assert all(signs.written(line) for line in made)


def test_arabic_is_spelt_as_in_one_language(tool: Any) -> None:
    alike = tool("script_lines").spelt_alike
    assert alike("مدينة کبير ۱۲") == "مدينة كبير ١٢"
    assert alike("یکی کتاب يك ١٢") == "یکی کتاب یک ۱۲"


def test_a_drawn_line_tells_where_its_characters_stand(tool: Any, tmp_path: Path) -> None:
    pytest.importorskip("uharfbuzz")
    drawing = tool("script_drawing")
    how = drawing.ScriptStyle(_face(tool, tmp_path), 24.0, 0.0, 1.0, 1.0, {})
    line = drawing.script_drawn("Open the file", how, 1000, np.random.default_rng(3))
    assert line.text == "Open the file" and line.ink.max() == 255
    known = line.middles[line.middles >= 0]
    assert len(known) == 11 and (np.diff(known) > 0).all()
    assert line.ink[:, int(known[0]) - 4 : int(known[0]) + 4].any()
    short = drawing.script_drawn("Open the file", how, 80, np.random.default_rng(3))
    assert short.text == "Open"
    picture = drawing.script_picture(line, how.em, np.random.default_rng(3))
    assert len(picture.ink) == 40 and picture.text == line.text


def test_a_network_learns_from_a_batch_and_resumes(
    tool: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("uharfbuzz")
    train, data, signs = tool("script_train"), tool("data"), tool("script_signs")
    picture = tool("drawing").Picture
    arguments = ["train.py", "--data", str(tmp_path), "--checkpoint", str(tmp_path / "c"), "--tiny"]
    monkeypatch.setattr(sys, "argv", arguments)
    options = train.arguments()
    ink = np.zeros((40, 96), np.uint8)
    ink[8:24, 10:20] = 255
    made = [picture(ink, "да a", np.array([15, 30, -1, 60], np.float32))] * 2
    batch = data.together(made, 96, signs.classes_of)
    first = train.ScriptTrainer(options)
    losses = [float(first.learn(batch).sum()) for _ in range(12)]
    assert losses[-1] < losses[0] and batch.texts()[0] == signs.classes_of("да a")
    first.save(options.checkpoint)
    again = train.ScriptTrainer(options)
    assert again.resume(options.checkpoint) and again.batch == 12
    first.network.eval(), again.network.eval()
    seen = torch.rand(1, 1, 40, 96)
    assert torch.allclose(first.network(seen), again.network(seen), atol=1e-2)


@pytest.mark.filterwarnings("ignore")  # PyTorch calls the exporter by tracing old
@pytest.mark.parametrize("small", [False, True])
def test_the_export_says_what_the_network_says(tool: Any, tmp_path: Path, small: bool) -> None:
    pytest.importorskip("onnx")
    from penstock.engines.ocr.scripts_network import ScriptsNetwork

    model, export = tool("script_model"), tool("script_export")
    torch.manual_seed(3)
    network = model.ScriptReaderNetwork(model.TINY_SCRIPT).eval()
    ink = np.zeros((40, 320), np.uint8)
    ink[8:30, 20:280:9] = 230
    told = network(torch.from_numpy(ink[None, None]).float() / 255).exp().detach().numpy()[0]
    export.script_export(network, tmp_path / "scripts.onnx", small)
    reader = ScriptsNetwork(tmp_path / "scripts.onnx")
    [said] = reader._network(ink[None, None].astype(np.float32) / 255)
    assert np.allclose(told, said[0], atol=0.02 if small else 1e-4)
    assert "".join(tool("script_signs").SIGNS) == reader._signs
    reader.close()
