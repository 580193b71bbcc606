"""The contract of every embedder, and the table of those we have.

Texts and encoded pictures in, float32 rows of length 1 out, in the order given. An embedder that cannot read
pictures has `takes_images = False`; no embedder makes up a vector for a picture it cannot read.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from penstock.errors import EngineError, UsageError
from penstock.plugins import home_of, load

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]  # (how many, dimensions), each row of length 1

EMBEDDERS = {
    "use": "penstock.engines.embed.universal_encoder:UniversalEncoder",
    "openai": "penstock.engines.embed.openai:ServerEmbedder",
    "qwen3-vl": "penstock.engines.embed.qwen:QwenEmbedder",
}
# of those that take long to open, what opens them for a question or two
ONCE = {"use": "penstock.engines.embed.question_encoder:QuestionEncoder"}
# The instructions of Qwen3-VL-Embedding: its own default for what is found, a task for what finds.
REPRESENT = "Represent the user's input."
RETRIEVE = "Retrieve document pages that answer the user's question."


class Embedder(Protocol):
    """An open embedder. Several threads may call it at once."""

    takes_images: bool

    def texts(self, texts: Sequence[str], instruction: str = "") -> Vectors: ...

    def images(self, images: Sequence[bytes], captions: Sequence[str], instruction: str = "") -> Vectors:
        """Returns one row for each picture with its caption, which may be empty."""
        ...

    def close(self) -> None: ...


def embedder_class(name: str) -> type[Any]:
    """Returns the class behind a name. Raises UsageError for an unknown name."""
    found: type[Any] = load(home_of("embedders", EMBEDDERS, name, "embedder"))
    return found


def takes_images(name: str) -> bool:
    """Whether an embedder reads pictures. Loads no weights."""
    return bool(embedder_class(name).takes_images)


def open_embedder(name: str, settings: Mapping[str, Any], once: bool = False) -> Embedder:
    """Opens the embedder with the settings that are not None. Raises UsageError for one it does not take.

    `once`: it will be asked little, and should be ready soon.
    """
    chosen = chosen_settings(name, settings)
    kind = load(ONCE[name]) if once and name in ONCE else embedder_class(name)
    opened: Embedder = kind(**chosen)
    return opened


def chosen_settings(name: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the settings that are not None. Loads nothing. Raises UsageError for one it does not take."""
    known = inspect.signature(embedder_class(name)).parameters
    chosen = {key: value for key, value in settings.items() if value is not None}
    for key in chosen:
        if key not in known:
            raise UsageError(f"The embedder {name!r} does not take --{key.replace('_', '-')}.")
    return chosen


def unit_rows(rows: NDArray[Any], dimensions: int | None = None) -> Vectors:
    """Cuts rows to `dimensions` numbers (Matryoshka) and scales them to length 1. Raises on zero rows."""
    import numpy as np

    cut = np.asarray(rows, dtype=np.float32)[:, :dimensions]
    lengths = np.linalg.norm(cut, axis=1, keepdims=True)
    if not np.isfinite(lengths).all() or (lengths == 0).any():
        raise EngineError("The embedder gave a vector without a direction (zero or not a number).")
    return np.asarray(cut / lengths, dtype=np.float32)


def punctuated(instruction: str) -> str:
    """Ends the instruction like a sentence, as in Qwen3-VL-Embedding's training."""
    import unicodedata

    text = instruction.strip() or REPRESENT
    return text if unicodedata.category(text[-1]).startswith("P") else text + "."
