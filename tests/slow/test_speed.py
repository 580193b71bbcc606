"""What must stay quick, in CPU seconds.

Each bound is ten times what a quiet machine takes: only a cost of another order passes it, never a slow or
loaded machine. The figures themselves are in benchmarks/.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from benchmarks.lib.scenes import shapes

from penstock.documents.layout.rules import regions_by_rules
from penstock.photos.duplicates import Seen, groups
from penstock.photos.volumes import measure
from penstock.region import TextLayer
from tests.documents.layout.test_rules import HEIGHT, WIDTH, paragraph
from tests.support.effort import cpu_seconds

pytestmark = pytest.mark.slow


def best_of_three(work: Callable[[], object]) -> float:
    work()  # the first call imports
    return min(cpu_seconds(work) for _ in range(3))


def test_100_000_gaussians_are_measured_in_a_moment() -> None:
    big = shapes.cloud(shapes.boxes([(0, 0, 0, 1.2, 0.6, 0.8)], 100_000))
    assert best_of_three(lambda: measure(big)) < 3.0


def test_a_thousand_things_are_held_against_each_other_in_a_moment() -> None:
    looks = np.random.default_rng(0).dirichlet(np.full(108, 0.1), 1000).tolist()
    things = [Seen(f"photo {n // 5}", "chair", tuple(look), 0.5) for n, look in enumerate(looks)]
    things.append(replace(things[7], photo="another"))
    assert groups(things)[-1] == 7
    assert best_of_three(lambda: groups(things)) < 10.0


def test_a_page_of_three_thousand_characters_is_cheap() -> None:
    words = (*paragraph(100, 200, 48, 4), *paragraph(650, 200, 48, 4))
    layer = TextLayer(words=words)
    assert best_of_three(lambda: regions_by_rules(layer, WIDTH, HEIGHT)) < 0.1  # 10 ms on a quiet machine
