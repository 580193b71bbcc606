"""Where the plugin must leave vLLM as it is, and that it says so once. A fake makes each thing not fit."""

from __future__ import annotations

import importlib
import logging
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from penstock import vllm_plugin
from penstock.vllm_plugin import patch, places

GLM, PADDLE, QWEN, DEEPSEEK = places.PLACES
MODEL = """
class GlmOcrVisionTransformer:
    def forward(self, x, grid_thw, encoder_metadata=None):
        return "plain", x


class GlmOcrForConditionalGeneration:
    def __init__(self, visual):
        self.visual = visual

    def forward(self, input_ids, positions=None):
        return "tokens", input_ids
"""


@pytest.fixture(autouse=True)
def nothing_left() -> Iterator[None]:
    """No finder and no fake module outlives its test."""
    before, modules = list(sys.meta_path), set(sys.modules)
    yield
    sys.meta_path[:] = before
    for name in set(sys.modules) - modules:
        if name.partition(".")[0] in ("vllm", "torch"):
            del sys.modules[name]


@pytest.fixture
def vllm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package that is laid out as vLLM is, with a tower that says that it was called."""
    folder = tmp_path / "vllm" / "model_executor" / "models"
    folder.mkdir(parents=True)
    for package in (folder, folder.parent, folder.parent.parent):
        (package / "__init__.py").write_text("")
    (tmp_path / "vllm" / "__init__.py").write_text("__version__ = '0.26.0'\n")
    (folder / "glm_ocr.py").write_text(MODEL)
    monkeypatch.syspath_prepend(str(tmp_path))
    return folder / "glm_ocr.py"


def tower_class(mode: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("PENSTOCK_VISION", mode)
    vllm_plugin.register()
    return importlib.import_module(GLM.module).GlmOcrVisionTransformer


def on_a_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    parts = fitting_parts(device=SimpleNamespace(type="cpu"))
    monkeypatch.setattr(patch, "parts_of", lambda tower, place: parts)


def said(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.name == "vllm.penstock"]


def fake_torch(**more: Any) -> Any:
    cuda = {
        "get_device_capability": lambda device: (9, 0),
        "get_device_name": lambda device: "a card",
        "get_device_properties": lambda device: SimpleNamespace(total_memory=80e9),
    }
    return SimpleNamespace(
        cuda=SimpleNamespace(**{**cuda, **more}),
        compiler=SimpleNamespace(is_compiling=lambda: False),
        bfloat16="bfloat16",
        float16="float16",
        float32="float32",
    )


def layer(*shape: int, dtype: str = "bfloat16", **more: Any) -> Any:
    return SimpleNamespace(weight=SimpleNamespace(shape=shape, dtype=dtype), **more)


class QKVParallelLinearWithLoRA:
    pass


class SiluAndMul:
    pass


def fitting_tower(**more: Any) -> Any:
    """The shapes of GLM-OCR, on a card."""
    attention = SimpleNamespace(
        head_dim=64,
        q_norm=layer(64),
        k_norm=layer(64),
        qkv=layer(3072, 1024),
        proj=layer(1024, 1024),
        apply_rotary_emb=SimpleNamespace(is_neox_style=True),
        attn=SimpleNamespace(is_flash_attn_backend=True),
    )
    gate_up = layer(8192, 1024, output_size_per_partition=8192)
    mlp = SimpleNamespace(act_fn=SiluAndMul(), gate_up_proj=gate_up, down_proj=layer(1024, 4096))
    fitting = {
        "blocks": [SimpleNamespace(norm1=layer(1024), norm2=layer(1024), attn=attention, mlp=mlp)],
        "hidden_size": 1024,
        "spatial_merge_size": 2,
        "downsample": layer(1536, 1024, 2, 2),
        "merger": SimpleNamespace(act_fn=SiluAndMul()),
        "device": SimpleNamespace(type="cuda"),
        "dtype": "bfloat16",
        "tp_size": 1,
    }
    return SimpleNamespace(**{**fitting, **more})


def place(monkeypatch: pytest.MonkeyPatch, version: str = "0.26.0", triton: bool = True, **cuda: Any) -> None:
    """A machine where everything fits but what the test says."""
    monkeypatch.setitem(sys.modules, "vllm", SimpleNamespace(__version__=version))  # type: ignore[arg-type]
    monkeypatch.setitem(sys.modules, "torch", fake_torch(**cuda))
    monkeypatch.setattr(patch.importlib.util, "find_spec", lambda name: object() if triton else None)


def test_the_plugin_loads_where_there_is_no_torch() -> None:
    code = "import sys; from penstock.vllm_plugin import register; register(); print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout.strip(), done.stderr) == ("False", "")


def test_registering_imports_nothing_of_vllm(vllm: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_VISION", "auto")
    vllm_plugin.register()
    vllm_plugin.register()  # vLLM calls it in every process, and may call it twice in one
    assert not any(name.partition(".")[0] == "vllm" for name in sys.modules)
    waiting = [finder.name for finder in sys.meta_path if isinstance(finder, patch._WhenImported)]
    assert sorted(waiting) == sorted(place.module for place in places.PLACES)


def test_plain_leaves_the_class_alone(vllm: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not hasattr(tower_class("plain", monkeypatch).forward, "by_penstock")


def test_an_unknown_mode_leaves_it_alone_and_says_so(
    vllm: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    assert not hasattr(tower_class("quick", monkeypatch).forward, "by_penstock")
    assert said(caplog) == [
        "PENSTOCK_VISION=quick is not known (auto, fast, fp8, plain): the vision tower stays as vLLM has it."
    ]


def test_a_module_that_was_imported_before_us_is_replaced_too(
    vllm: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    importlib.import_module(GLM.module)
    assert hasattr(tower_class("auto", monkeypatch).forward, "by_penstock")


def test_on_a_cpu_vllms_own_answers_and_one_line_says_why(
    vllm: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    tower = tower_class("auto", monkeypatch)()
    on_a_cpu(monkeypatch)
    assert [tower.forward(n, [[1, 2, 2]]) for n in range(3)] == [("plain", n) for n in range(3)]
    assert said(caplog) == [
        "penstock: the vision tower stays as vLLM has it: it runs on cpu, and the kernels are for CUDA."
    ]


def test_the_tower_is_chosen_when_the_model_first_runs_without_a_picture(
    vllm: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    monkeypatch.setitem(sys.modules, "torch", fake_torch())
    tower = tower_class("auto", monkeypatch)()
    on_a_cpu(monkeypatch)
    model = importlib.import_module(GLM.module).GlmOcrForConditionalGeneration(tower)
    assert [model.forward(n, positions=n) for n in range(2)] == [("tokens", 0), ("tokens", 1)]
    assert len(said(caplog)) == 1
    assert tower.forward(7, [[1, 2, 2]]) == ("plain", 7)
    assert len(said(caplog)) == 1


def test_a_model_that_is_traced_or_takes_no_pictures_chooses_nothing(
    vllm: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    torch = fake_torch()
    monkeypatch.setitem(sys.modules, "torch", torch)
    tower = tower_class("auto", monkeypatch)()
    made = importlib.import_module(GLM.module).GlmOcrForConditionalGeneration
    made(SimpleNamespace()).forward(1)
    torch.compiler.is_compiling = lambda: True
    made(tower).forward(1)
    assert not said(caplog) and not vars(tower)


def test_a_vllm_without_the_tower_is_told(
    vllm: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    vllm.write_text("class GlmOcrVisionTransformer2: pass\n")
    monkeypatch.setenv("PENSTOCK_VISION", "fast")
    vllm_plugin.register()
    importlib.import_module(GLM.module)
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "has no GlmOcrVisionTransformer" in said(caplog)[0]


@pytest.mark.parametrize(
    ("mode", "machine", "parts", "why"),
    [
        ("auto", {"version": "0.27.1"}, {}, "vLLM 0.27.1 is none of 0.26, 0.32"),
        ("auto", {"version": "1.26.0"}, {}, "vLLM 1.26.0"),
        ("auto", {"triton": False}, {}, "Triton is not installed"),
        ("auto", {"get_device_capability": lambda device: (7, 5)}, {}, "a card is too old"),
        ("fp8", {"get_device_capability": lambda device: (8, 0)}, {}, "a card is too old for mode fp8"),
        ("auto", {}, {"device": SimpleNamespace(type="cpu")}, "it runs on cpu"),
        ("auto", {}, {"dtype": "float32"}, "it computes in float32"),
    ],
)
def test_a_place_that_does_not_fit_is_refused(
    mode: str, machine: Any, parts: Any, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    place(monkeypatch, **machine)
    with pytest.raises(patch.Unsupported, match=why):
        patch.check_place(fitting_parts(**parts), mode)


def fitting_parts(**more: Any) -> places.TowerParts:
    return replace(patch.parts_of(fitting_tower(), GLM), **more)


def test_glm_ocr_on_a_card_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    place(monkeypatch)
    parts = fitting_parts()
    patch.check_place(parts, "auto")
    patch.check_layers(parts, GLM, "fp8")
    assert patch.can_capture(parts)
    assert not patch.can_capture(replace(parts, cards=2))
    place(monkeypatch, get_device_properties=lambda device: SimpleNamespace(total_memory=8e9))
    assert not patch.can_capture(parts)


def changed(**more: Any) -> Any:
    """A tower whose block differs in one thing."""
    tower = fitting_tower()
    part, _, name = next(iter(more)).partition("__")
    vars(getattr(tower.blocks[0], part) if name else tower.blocks[0])[name or part] = next(
        iter(more.values())
    )
    return tower


@pytest.mark.parametrize(
    ("tower", "why"),
    [
        (changed(norm1=layer(512)), "another shape .norm."),
        (changed(attn__q_norm=layer(128)), "another shape .heads."),
        (changed(attn__head_dim=81), "another shape .heads, even."),
        (changed(mlp__act_fn=object()), "another shape .gate."),
        (changed(mlp__gate_up_proj=SimpleNamespace(output_size_per_partition=1 << 20)), "width"),
        (changed(attn__apply_rotary_emb=SimpleNamespace(is_neox_style=False)), "turn"),
        (changed(attn=SimpleNamespace()), "other names"),  # another model's: no norm of queries and keys
        (fitting_tower(downsample=layer(1536, 1024, 4, 4)), "last layers"),
        (fitting_tower(merger=SimpleNamespace(act_fn=object())), "last layers"),
    ],
)
def test_another_models_tower_is_refused(tower: Any, why: str) -> None:
    with pytest.raises(patch.Unsupported, match=why):
        patch.parts_of(tower, GLM)


def test_adapters_split_layers_and_weights_of_eight_bits_are_refused() -> None:
    adapted = patch.parts_of(changed(attn__qkv=QKVParallelLinearWithLoRA()), GLM)
    with pytest.raises(patch.Unsupported, match="adapters"):
        patch.check_layers(adapted, GLM, "auto")
    patch.check_layers(fitting_parts(cards=2), GLM, "auto")
    with pytest.raises(patch.Unsupported, match="split over 2 cards"):
        patch.check_layers(fitting_parts(cards=2), QWEN, "auto")
    small = patch.parts_of(changed(mlp__down_proj=layer(1024, 4096, dtype="float8")), GLM)
    patch.check_layers(small, GLM, "auto")  # vLLM's own layers compute with them
    with pytest.raises(patch.Unsupported, match="rounded already"):
        patch.check_layers(small, GLM, "fp8")


def qwen_tower(**more: Any) -> Any:
    """A small tower of Qwen3-VL's kind, on a card."""
    norm = layer(64, bias=object())
    attention = SimpleNamespace(
        qkv=layer(192, 64),
        proj=layer(64, 64),
        attn=SimpleNamespace(is_flash_attn_backend=True),
        num_attention_heads_per_partition=4,
        apply_rotary_emb=SimpleNamespace(is_neox_style=True),
    )
    bend = SimpleNamespace(approximate="tanh")
    mlp = SimpleNamespace(linear_fc1=layer(96, 64, bias=object()), act_fn=bend, linear_fc2=layer(64, 96))
    fitting = {
        "blocks": [SimpleNamespace(norm1=norm, norm2=norm, attn=attention, mlp=mlp)],
        "hidden_size": 64,
        "pos_embed": layer(49, 64),
        "deepstack_visual_indexes": [],
        "deepstack_merger_list": [],
        "device": SimpleNamespace(type="cuda"),
        "dtype": "bfloat16",
        "tp_size": 1,
    }
    return SimpleNamespace(**{**fitting, **more})


def test_qwen3_vl_fits_and_one_of_another_shape_does_not() -> None:
    assert len(patch.parts_of(qwen_tower(), QWEN).products) == 4
    for tower, why in (
        (qwen_tower(hidden_size=32), "norm"),
        (qwen_tower(pos_embed=layer(50, 64)), "first or last"),
        (qwen_tower(deepstack_visual_indexes=[3]), "first or last"),
        (qwen_tower(blocks=[SimpleNamespace()]), "other names"),
    ):
        with pytest.raises(patch.Unsupported, match=why):
            patch.parts_of(tower, QWEN)
    tower = qwen_tower()
    tower.blocks[0].mlp.act_fn = SimpleNamespace(approximate="none")
    with pytest.raises(patch.Unsupported, match="gate"):
        patch.parts_of(tower, QWEN)


@pytest.mark.parametrize("place", [PADDLE, DEEPSEEK], ids=lambda place: place.room)
def test_a_model_without_the_layers_is_refused(place: places.TowerPlace) -> None:
    with pytest.raises(patch.Unsupported, match="other names"):
        patch.parts_of(SimpleNamespace(), place)


@pytest.mark.parametrize(
    ("off", "line"),
    [
        (0.02, "GLM-OCR's vision tower is the fast one (fast, 2.00% from vLLM's own)."),
        (0.6, "stays as vLLM has it: on a small picture it differs by 60.00% from vLLM's own."),
        (float("nan"), "stays as vLLM has it: on a small picture it differs by nan% from vLLM's own."),
        (RuntimeError("no kernel\nimage"), "stays as vLLM has it: RuntimeError: no kernel image."),
    ],
)
def test_the_fast_tower_is_taken_only_if_it_gives_the_same(
    off: Any, line: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    place(monkeypatch)
    tower = fitting_tower()

    def difference(*_: Any) -> float:
        if isinstance(off, Exception):
            raise off
        return float(off)

    monkeypatch.setattr(patch, "fast_method", lambda *given, **named: lambda x, grid: "fast")
    monkeypatch.setattr(patch, "_difference", difference)
    forward = patch._choosing(lambda tower, *given, **named: "plain", GLM, "fast")
    answers = [forward(tower, 1, [[1, 2, 2]]), forward(tower, 1, grid_thw=[[1, 2, 2]], metadata=None)]
    assert answers == ["fast" if off == 0.02 else "plain"] * 2
    assert len(said(caplog)) == 1
    assert said(caplog)[0].endswith(line)
    # what we know nothing of is vLLM's
    assert forward(tower, 1, [[1, 2, 2]], {"metadata": 1}) == "plain"


def test_fp8_is_fast_where_a_tower_has_no_such_products(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    place(monkeypatch)
    monkeypatch.setattr(patch, "fast_method", lambda owner, place, mode, graphs: lambda x, grid: mode)
    monkeypatch.setattr(patch, "_difference", lambda *_: 0.0)
    forward = patch._choosing(lambda *_: "plain", QWEN, "fp8")
    assert forward(qwen_tower(), 1, [[1, 2, 2]]) == "fast"
    assert [line.split(": ", 1)[1] for line in said(caplog)] == [
        "Qwen3-VL's tower has no products in eight bits: fast is taken.",
        "Qwen3-VL's vision tower is the fast one (fast, 0.00% from vLLM's own).",
    ]
