"""Whatever lies around and inside OUT, every verb leaves it as it was."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import cv2
import numpy as np
import pytest

from tests.strangers.trees import plant, random_tree
from tests.strangers.verbs import PATIENT, QUICK, VOLUMES, run_verb

QUICK_TREES = 12
TREES, PARTS = 1_000, 20  # in parts, so that each ends within minutes
EVERY = 100  # of the trees of the slow test, those that the patient verbs run in
VERBS = 3  # in each tree


@pytest.mark.parametrize("seed", range(QUICK_TREES))
def test_no_verb_changes_a_file_of_the_user(tmp_path: Path, seed: int) -> None:
    check_tree(tmp_path, seed, QUICK)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_no_verb_changes_a_file_of_the_user_in_a_thousand_trees(tmp_path: Path, part: int) -> None:
    for seed in range(QUICK_TREES + part, QUICK_TREES + TREES, PARTS):
        home = tmp_path / str(seed)
        home.mkdir()
        check_tree(home, seed, (*QUICK, *PATIENT, VOLUMES) if seed % EVERY == 0 else QUICK)
        shutil.rmtree(home)


def check_tree(home: Path, seed: int, verbs: tuple[tuple[str, ...], ...]) -> None:
    tree = random_tree(home, seed)
    tree.add(home / "photo.png", _photo())
    tree.add(home / "schema.json", b'{"type": "object", "properties": {"title": {"type": "string"}}}')
    chance = random.Random(seed)
    chosen = list(verbs) if len(verbs) > len(QUICK) else chance.choices(verbs, k=VERBS)
    for words in chosen:
        run_verb(words, tree)
        assert not tree.changed(), (seed, words)
        assert not tree.strange(), (seed, words)
        plant(tree, chance, 2)


def _photo() -> bytes:
    pixels = np.full((240, 320, 3), 255, np.uint8)
    pixels[60:180, 40:200] = (40, 90, 160)
    return cv2.imencode(".png", pixels)[1].tobytes()
