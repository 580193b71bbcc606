"""What a test cannot do without."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from penstock.engines.weights import registry as weights

needs_saliency = pytest.mark.skipif(
    weights.look(weights.MODELS["u2netp"]).state != "ready", reason="run: penstock models fetch u2netp"
)
needs_detector = pytest.mark.skipif(
    any(weights.look(weights.MODELS[name]).state != "ready" for name in ("nanodet", "u2netp")),
    reason="run: penstock models fetch nanodet",
)
# looked for and not imported, which takes 2 s of CPU in every process that collects tests
needs_search = pytest.mark.skipif(find_spec("lancedb") is None, reason="needs penstock-pipeline[search]")
