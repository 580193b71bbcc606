"""What a test cannot do without."""

from __future__ import annotations

import pytest

from penstock.engines.weights import registry as weights

needs_saliency = pytest.mark.skipif(
    weights.look(weights.MODELS["u2netp"]).state != "ready", reason="run: penstock models fetch u2netp"
)
needs_detector = pytest.mark.skipif(
    any(weights.look(weights.MODELS[name]).state != "ready" for name in ("nanodet", "u2netp")),
    reason="run: penstock models fetch nanodet",
)
