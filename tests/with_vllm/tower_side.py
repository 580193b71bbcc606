"""Runs in vLLM's own interpreter: its towers, made tiny, and its guard, beside ours. Prints JSON.

python tests/with_vllm/tower_side.py CHECKPOINT     # GLM-OCR's
"""

from __future__ import annotations

import functools
import importlib
import json
import random
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from benchmarks.lib import real_tower
from benchmarks.lib.real_tower import build_tower, built, noise, noise_pixels, relative, start_vllm
from vllm.model_executor.models.interfaces_base import is_vllm_model

from penstock.vllm_plugin import patch
from penstock.vllm_plugin.loop_guard import replace_guard
from penstock.vllm_plugin.places import PLACES, TowerPlace
from tests.support import vision_formulas

GRIDS = (
    [[1, 4, 6]],
    [[1, 2, 2]],
    [[1, 4, 6], [1, 2, 2], [1, 8, 2]],
    [[2, 4, 4], [1, 6, 10]],  # two frames of one picture
)
TILES = ([[1, 1]], [[2, 1]], [[1, 1], [2, 3], [1, 2]])  # columns and rows of DeepSeek-OCR's

Given = Callable[[Any, int], tuple[Any, ...]]


def main() -> None:
    config, folder = start_vllm(), Path(sys.argv[1])
    makes = {
        "GLM-OCR": functools.partial(build_tower, config, folder, "cpu"),
        "PaddleOCR-VL": functools.partial(built, config, lambda: real_tower.paddleocr(small=True), "cpu"),
        "Qwen3-VL": functools.partial(
            built, config, lambda: real_tower.qwen3_vl_embedding(small=True), "cpu"
        ),
        "DeepSeek-OCR": functools.partial(built, config, lambda: real_tower.deepseek(small=True), "cpu"),
    }
    with torch.inference_mode():
        towers = {place.name: compared(place, makes[place.name]) for place in PLACES}
    print(json.dumps({"towers": towers, "guard": guards_compared()}))


def guards_compared() -> dict[str, int]:
    """In how many steps of made-up answers vLLM's guard and ours forbid the same, and how many tokens."""
    code = importlib.import_module("vllm.model_executor.models.deepseek_ocr")
    own, dice = code.NGramPerReqLogitsProcessor, random.Random(0)
    ours = type("Ours", (own,), {})
    replace_guard(SimpleNamespace(**{**vars(code), own.__name__: ours}))  # type: ignore[arg-type]
    assert ours.apply is not own.apply
    equal = forbidden = 0
    for _ in range(50):
        answers = [[dice.randrange(3) for _ in range(dice.randrange(20))] for _ in range(16)]
        theirs, mine = (guarded(kind, answers) for kind in (own, ours))
        equal += torch.equal(theirs, mine)
        forbidden += int(theirs.isinf().sum())
    return {"equal": equal, "forbidden": forbidden}


def guarded(kind: Any, answers: list[list[int]]) -> Any:
    """A step's logits after a guard that every third request did not order."""
    order = {"ngram_size": 4, "window_size": 12, "whitelist_token_ids": [2]}
    guard = kind.__new__(kind)
    params = [SimpleNamespace(extra_args=order if row % 3 else None) for row in range(len(answers))]
    states = [guard._new_state(*both) for both in zip(params, [None] * 16, answers, strict=True)]
    guard.req_info = {row: state for row, state in enumerate(states) if state}
    return guard.apply(torch.zeros(16, 8))


def compared(place: TowerPlace, make: Callable[[Any], Any]) -> dict[str, Any]:
    exact, rounded = make(torch.float32), make(torch.bfloat16)
    patch.check_layers(patch.parts_of(exact, place), place, "auto")
    own, fast = (methods(place, tower) for tower in (exact, rounded))
    rows = []
    for seed, given in enumerate(pictures_for(place)):
        truth, ours = (flat(run(*given(exact, seed))) for run in own)
        theirs, rough = (flat(run(*given(rounded, seed))) for run in fast)
        rows.append(
            {
                "float32": relative(ours, truth),
                "bfloat16": relative(rough, truth),
                "bfloat16 of vLLM": relative(theirs, truth),
                "shape": list(truth.shape) == list(ours.shape),
            }
        )
    # the words that its log says of small pictures of noise
    trial = patch._difference(exact, place, *own)
    return {"rows": rows, "trial": trial, "chosen": is_chosen_without_a_picture(place, exact)}


def methods(place: TowerPlace, tower: Any) -> tuple[patch.Forward, patch.Forward]:
    """vLLM's and ours."""
    room = importlib.import_module(f"penstock.vllm_plugin.{place.room}")
    fast = room.fast(tower, vision_formulas, "fast", graphs=False)
    return getattr(tower, place.method), fast


def pictures_for(place: TowerPlace) -> list[Given]:
    if place.room == "deepseek_ocr":
        return [functools.partial(page, shapes=shapes) for shapes in TILES]
    if place.room == "paddleocr_vl":
        grids = [[row for row in grid if row[0] == 1] for grid in GRIDS]  # it knows no frames
        return [functools.partial(crops, grid=grid) for grid in grids]
    return [functools.partial(patches, grid=grid) for grid in GRIDS]


def patches(tower: Any, seed: int, grid: list[list[int]]) -> tuple[Any, ...]:
    return noise_pixels(tower, grid, seed), torch.tensor(grid)


def crops(model: Any, seed: int, grid: list[list[int]]) -> tuple[Any, ...]:
    pixels = [noise(model, seed, t * h * w, 3, 14, 14) for t, h, w in grid]
    return (SimpleNamespace(pixel_values=pixels, image_grid_thw=torch.tensor(grid)),)


def page(model: Any, seed: int, shapes: list[list[int]]) -> tuple[Any, ...]:
    tiles = sum(wide * high for wide, high in shapes if wide * high > 1)
    views, pieces = noise(model, seed, len(shapes), 3, 128, 128), noise(model, seed, tiles, 3, 64, 64)
    return views, pieces, torch.tensor(shapes)


def flat(result: Any) -> Any:
    return result if isinstance(result, torch.Tensor) else torch.cat(list(result))


def is_chosen_without_a_picture(place: TowerPlace, owner: torch.nn.Module) -> bool:
    """Returns whether vLLM's model, run as before a server is ready, looks at its tower, and is still one."""
    module = sys.modules[place.module]
    patch.replace_method(module, place, "auto")
    kind = getattr(module, place.model)
    model = owner
    if place.held:
        model = kind.__new__(kind)
        torch.nn.Module.__init__(model)
        setattr(model, place.held, owner)
    words = SimpleNamespace(model=lambda **inputs: inputs["positions"])
    before = "_penstock" in vars(owner)
    forward_without_words(model, words)
    return not before and "_penstock" in vars(owner) and bool(is_vllm_model(kind))


def forward_without_words(model: Any, words: Any) -> None:
    """Calls the model's forward, whose language model does nothing."""
    model.__dict__["language_model"] = Silent(words)
    model.use_deepstack = False
    model(None, torch.tensor([3]))


class Silent:
    def __init__(self, words: Any) -> None:
        self.model = words.model

    def __call__(self, *given: Any, **named: Any) -> Any:
        return given


if __name__ == "__main__":
    main()
