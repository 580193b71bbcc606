"""The tools of the reader of Korean lines: what it learns from, how, and that its export says the same."""

from __future__ import annotations

import importlib
import json
import lzma
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.conftest import REPO

torch = pytest.importorskip("torch")
TEXTS = {
    "korean": ["문을 열지 못했습니다.", "\0개의 파일", "사용자 이름"] * 10,
    "english": ["Open the file"] * 30,
    "people": ["서울특별시"] * 30,
    **{kind: ["사람", "길", "나무"] for kind in ("nouns", "names", "counters")},
    **{kind: ["먹는다", "가고", "좋은"] for kind in ("finals", "links", "modifiers", "adverbs")},
}


@pytest.fixture
def tool(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Imports a module of tools/hangul, and forgets all of them after the test: their names are common."""
    before = set(sys.modules)
    monkeypatch.setattr(sys, "path", list(sys.path))
    for folder in ("training", "hangul"):
        monkeypatch.syspath_prepend(str(REPO / "tools" / folder))
    yield importlib.import_module
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(REPO / "tools")):
            del sys.modules[name]


def _texts(tool: Any, folder: Path) -> Any:
    file = folder / "texts.json.xz"
    file.write_bytes(lzma.compress(json.dumps(TEXTS).encode()))
    return tool("lines").Texts(file)


def test_every_syllable_and_sign_has_a_class_of_its_own(tool: Any) -> None:
    signs = tool("signs")
    text = "".join([*signs.SIGNS, *map(chr, range(0xAC00, 0xD7A4))])
    classes = signs.classes_of(text)
    assert len(set(classes)) == len(classes) == len(signs.SIGNS) + 11172
    assert signs.text_of(classes) == text


def test_what_looks_alike_is_written_in_one_way(tool: Any) -> None:
    assert tool("signs").written(" 가\u3000나～ 韓 a\u2011b ") == "가 나~ \ufffd a-b"


def test_reading_a_few_classes_of_a_line_costs_and_teaches_what_all_of_them_would(tool: Any) -> None:
    model, signs = tool("model"), tool("signs")
    torch.manual_seed(1)
    raw = [torch.randn(2, 12, size, requires_grad=True) for size in (signs.NUM_KINDS, 399, 28)]
    said = model.Said(*(part.log_softmax(-1) for part in raw))
    everything = model.whole_chances(said)
    assert torch.allclose(everything.exp().sum(-1), torch.ones(2, 12), atol=1e-4)
    labels = [signs.classes_of("가가a"), signs.classes_of("뷁 을")]
    lengths = torch.tensor([3, 3])
    steps = torch.full((2,), 12)
    whole = torch.nn.functional.ctc_loss(
        everything.transpose(0, 1), torch.tensor(labels), steps, lengths, reduction="none"
    )
    classes = torch.tensor([[0, labels[0][0], labels[0][2], 0], [0, *labels[1]]])
    wanted = torch.tensor([[1, 1, 2], [1, 2, 3]])
    few = model.Ctc.apply(model.chances_of(said, classes).transpose(0, 1), wanted, lengths)
    assert torch.allclose(whole, few, rtol=1e-4)
    for one, other in zip(
        torch.autograd.grad(whole.sum(), raw, retain_graph=True),
        torch.autograd.grad(few.sum(), raw),
        strict=True,
    ):
        assert torch.allclose(one, other, atol=1e-4)


def test_the_check_of_the_loss_that_a_training_starts_with_passes(tool: Any) -> None:
    assert tool("model").loss_error(torch.device("cpu"), lines=2, steps=24, length=5) < 1e-3


def test_a_line_too_long_for_its_picture_teaches_nothing(tool: Any) -> None:
    model = tool("model")
    chances = torch.randn(2, 1, 4).log_softmax(-1).requires_grad_()
    loss = model.Ctc.apply(chances, torch.tensor([[1, 2, 3]]), torch.tensor([3]))
    loss.sum().backward()
    assert loss.item() == 0 and chances.grad is not None and not chances.grad.any()


def test_a_pair_folded_into_one_layer_says_the_same(tool: Any) -> None:
    pairs = tool("model").Pairs(16)
    torch.nn.init.normal_(pairs.both.weight)
    steps = torch.randn(3, 16)
    assert torch.allclose(pairs(steps), pairs.folded()(steps), atol=1e-5)


def test_characters_get_the_step_they_stand_at_unless_their_like_is_too_near(tool: Any) -> None:
    middles = np.array([2, 9, 14, -1, 40, 200], np.float32)
    steps = tool("data").steps_of(middles, [5, 6, 6, 1, 7, 8], 96)
    assert steps.tolist() == [0, 2, -1, -1, 10, 23]


def test_lines_come_the_same_for_the_same_dice_and_are_of_known_signs(tool: Any, tmp_path: Path) -> None:
    texts, signs = _texts(tool, tmp_path), tool("signs")
    made = [texts.line(np.random.default_rng(number), 30) for number in range(200)]
    assert made == [texts.line(np.random.default_rng(number), 30) for number in range(200)]
    assert all(0 < len(line) <= 30 and signs.classes_of(line) for line in made)
    assert len(set(made)) > 100


def test_receipts_are_of_known_signs_and_a_dotted_line_keeps_its_shape(tool: Any, tmp_path: Path) -> None:
    texts, signs, receipts = _texts(tool, tmp_path), tool("signs"), tool("receipts")
    made = [texts.receipt(np.random.default_rng(number), 30) for number in range(200)]
    assert made == [texts.receipt(np.random.default_rng(number), 30) for number in range(200)]
    assert all(0 < len(line) <= 30 and signs.UNKNOWN not in line for line in made)
    ink = np.zeros((40, 120), np.uint8)
    ink[10:30, 20:100] = 255
    for number in range(20):
        dots = receipts.dotted(ink, 30.0, np.random.default_rng(number))
        assert dots.shape == ink.shape and dots[12:28, 24:96].mean() > 60 and dots[:5].max() == 0
        worn = receipts.banded(ink, np.random.default_rng(number))
        assert worn.shape == ink.shape and 0 < worn.sum() <= ink.sum()


def test_a_font_keeps_the_outlines_of_the_wanted_characters_alone(tool: Any) -> None:
    outlines = tool("outlines")
    simple = struct.pack(">h", 1) + bytes(14)
    composed = struct.pack(">hhhhhHHbb", -1, 0, 0, 0, 0, 0, 1, 0, 0)  # of glyph 1
    glyphs = [b"", simple, composed, simple]
    ends = np.cumsum([0, *map(len, glyphs)]).astype(">u4").tobytes()
    groups = struct.pack(">IIIIII", 65, 66, 2, 0x10FFFF, 0x10FFFF, 0)
    cmap = struct.pack(">HHHHIHHIII", 0, 1, 3, 10, 12, 12, 0, 16 + len(groups), 0, 2) + groups
    head = bytes(50) + struct.pack(">hh", 1, 0)
    tables = {b"head": head, b"maxp": struct.pack(">IH", 0x10000, 4), b"loca": ends, b"cmap": cmap}
    small, has = outlines.slimmed(tables | {b"glyf": b"".join(glyphs), b"GSUB": b"x"}, {65})
    found = outlines.tables_of(small)
    assert has == {65} and b"GSUB" not in found
    kept = outlines._glyphs(found)
    assert [len(glyph) > 0 for glyph in kept] == [False, True, True, False]


def test_a_checkpoint_resumes_where_it_was(
    tool: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    train, data, drawing = tool("train"), tool("data"), tool("drawing")
    arguments = ["train.py", "--data", str(tmp_path), "--checkpoint", str(tmp_path / "c"), "--tiny"]
    monkeypatch.setattr(sys, "argv", arguments)
    options = train.arguments()
    ink = np.zeros((32, 96), np.uint8)
    ink[8:24, 10:20] = 255
    batch = data.together([drawing.Picture(ink, "가 a", np.array([15, -1, 40], np.float32))] * 2, 96)
    first = train.LineTrainer(options)
    first.learn(batch)
    first.seconds = 5.0
    first.save(options.checkpoint)
    again = train.LineTrainer(options)
    assert again.resume(options.checkpoint)
    assert (again.batch, again.samples, again.seconds) == (1, 2, 5.0)
    first.network.eval(), again.network.eval()
    seen = torch.rand(1, 1, 32, 96)
    for one, other in zip(first.network(seen), again.network(seen), strict=True):
        assert torch.allclose(one, other, atol=1e-3)
    other = train.LineTrainer(options)
    other.network = torch.nn.Linear(2, 2)
    with pytest.raises(ValueError, match="another network"):
        other.resume(options.checkpoint)
    again.learn(batch)
    assert batch.texts()[0] == tool("signs").classes_of("가 a")


@pytest.mark.filterwarnings("ignore")  # PyTorch calls the exporter by tracing old
@pytest.mark.parametrize("small", [False, True])
def test_the_export_says_what_the_network_says(tool: Any, tmp_path: Path, small: bool) -> None:
    pytest.importorskip("onnx")
    from penstock.engines.ocr.hangul_network import HangulNetwork

    model, export = tool("model"), tool("export")
    torch.manual_seed(3)
    network = model.LineReaderNetwork(model.TINY).eval()
    line = np.full((48, 300, 3), 240, np.uint8)
    line[14:34, 20:280:9] = 20
    grey = tool("drawing").prepared(np.ascontiguousarray(line[:, :, 0])).ink
    told = [
        part.exp().detach().numpy()[0] for part in network(torch.from_numpy(grey[None, None]).float() / 255)
    ]
    export.export(network, tmp_path / "hangul.onnx", small)
    reader = HangulNetwork(tmp_path / "hangul.onnx")
    said = reader._network(grey[None, None].astype(np.float32) / 255)
    for one, other in zip(told, said, strict=True):
        assert np.allclose(one, other[0], atol=0.02 if small else 1e-4)
    reader.read_line(line)
    reader.close()
