"""What every embedder promises, and which ones there are.

Texts and encoded pictures in, float32 rows of length 1 out, in the order given. An embedder that has
no eyes says so in `takes_images`; nobody makes up a vector for a picture it cannot see.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from penstock.errors import EngineError, UsageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]  # (how many, dimensions), each row of length 1

EMBEDDERS = {
    "use": "penstock.engines.embed.use:UniversalEncoder",
    "openai": "penstock.engines.embed.openai:ServerEmbedder",
    "qwen3-vl": "penstock.engines.embed.qwen:QwenEmbedder",
}
# The instructions of Qwen3-VL-Embedding: its own default for what is found, a task for what finds.
REPRESENT = "Represent the user's input."
RETRIEVE = "Retrieve document pages that answer the user's question."


class Embedder(Protocol):
    """The live thing. May be called by several threads at once."""

    takes_images: bool

    def texts(self, texts: Sequence[str], instruction: str = "") -> Vectors: ...

    def images(self, images: Sequence[bytes], captions: Sequence[str], instruction: str = "") -> Vectors:
        """One row for each picture with its caption, which may be empty."""
        ...

    def close(self) -> None: ...


def embedder_class(name: str) -> type[Any]:
    """The class behind a name. Raises UsageError for one we do not have."""
    if name not in EMBEDDERS:
        raise UsageError(f"There is no embedder {name!r}.", f"Choose from: {', '.join(EMBEDDERS)}.")
    module, kind = EMBEDDERS[name].split(":")
    found: type[Any] = getattr(importlib.import_module(module), kind)
    return found


def takes_images(name: str) -> bool:
    """Whether an embedder has eyes, told without loading it."""
    return bool(embedder_class(name).takes_images)


def open_embedder(name: str, settings: Mapping[str, Any]) -> Embedder:
    """The embedder with those of `settings` that are set. Raises UsageError for one it does not take."""
    opened: Embedder = embedder_class(name)(**chosen_settings(name, settings))
    return opened


def chosen_settings(name: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Those that are set, told without loading anything. Raises UsageError for one it does not take."""
    known = inspect.signature(embedder_class(name)).parameters
    chosen = {key: value for key, value in settings.items() if value is not None}
    for key in chosen:
        if key not in known:
            raise UsageError(f"The embedder {name!r} does not take --{key.replace('_', '-')}.")
    return chosen


def unit_rows(rows: NDArray[Any], dimensions: int | None = None) -> Vectors:
    """Rows of length 1, of their first `dimensions` numbers only (Matryoshka). Raises on empty directions."""
    import numpy as np

    cut = np.asarray(rows, dtype=np.float32)[:, :dimensions]
    lengths = np.linalg.norm(cut, axis=1, keepdims=True)
    if not np.isfinite(lengths).all() or (lengths == 0).any():
        raise EngineError("The embedder gave a vector without a direction (zero or not a number).")
    return np.asarray(cut / lengths, dtype=np.float32)


def punctuated(instruction: str) -> str:
    """Qwen3-VL-Embedding was trained on instructions that end like sentences."""
    import unicodedata

    text = instruction.strip() or REPRESENT
    return text if unicodedata.category(text[-1]).startswith("P") else text + "."
