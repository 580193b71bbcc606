"""The head of a card: what the Hub and `datasets.load_dataset` read of it.

Written as JSON values, which YAML reads alike.
"""

from __future__ import annotations

import json
import re
from typing import Any

from penstock.errors import UsageError
from penstock.exports.documents import CHUNKS
from penstock.exports.page_files import RESULTS, TEXTS
from penstock.passes.hub.features import PAGE, features
from penstock.store.out import Out

# identifiers of the Hub that are for data; another name is written as `other` with its name beside it
_CREATIVE_COMMONS = {
    "cc0": "1.0", "cc-by": "2.0 2.5 3.0 4.0", "cc-by-sa": "3.0 4.0", "cc-by-nd": "4.0",
    "cc-by-nc": "2.0 3.0 4.0", "cc-by-nc-nd": "3.0 4.0", "cc-by-nc-sa": "2.0 3.0 4.0",
}  # fmt: skip
LICENCES = {f"{name}-{number}" for name, all_of in _CREATIVE_COMMONS.items() for number in all_of.split()} | {
    "apache-2.0", "mit", "cc", "cdla-sharing-1.0", "cdla-permissive-1.0", "cdla-permissive-2.0", "odc-by",
    "odbl", "pddl", "etalab-2.0", "gfdl", "eupl-1.2", "bsd-3-clause", "gpl-3.0", "agpl-3.0", "unlicense",
    "unknown", "other",
}  # fmt: skip
OF_THE_SOURCES = "as-the-source-documents"
# Configuration, file of OUT; all of one format, because a data set has one reader. `load_dataset` takes the
# first that is there where it is given no name.
CONFIGS = (("pages", RESULTS), ("texts", TEXTS), ("chunks", CHUNKS))
_SIZES = (1_000, "1K"), (10_000, "10K"), (100_000, "100K"), (1_000_000, "1M"), (10_000_000, "10M")


def check_licence(name: str) -> None:
    """Raises UsageError for a name that the Hub would not take, before anything is uploaded."""
    if name and not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9.+_-]{0,95}", name):
        raise UsageError(
            f"--license {name!r} is not a licence's identifier.", "Write it like cc-by-4.0, or other."
        )


def front_matter(out: Out, num_pages: int, licence: str = "") -> list[str]:
    """Returns the lines between the two marks, with the marks."""
    facts: dict[str, Any] = {
        **_licence_facts(licence),
        "tags": ["ocr", "document-retrieval", "penstock"],
        "size_categories": [size_category(num_pages)],
        "configs": configs(out),
        "dataset_info": [{"config_name": CONFIGS[0][0], "features": features(PAGE)}],
    }
    return ["---", *(f"{name}: {json.dumps(value)}" for name, value in facts.items()), "---"]


def licence_sentence(licence: str) -> str:
    """Returns what the card says of the licence in words."""
    if licence:
        return f"These data are published under `{licence}`."
    return (
        "Text and pictures come from the source documents, and their licences apply to them."
        " Ask the publisher of this data set before you pass it on."
    )


def size_category(num_pages: int) -> str:
    """Returns the Hub's word for a number of rows: "n<1K", "10K<n<100K"."""
    below = "n<"
    for size, word in _SIZES:
        if num_pages < size:
            return f"{below}{word}"
        below = f"{word}<n<"
    return "n>10M"


def configs(out: Out) -> list[dict[str, Any]]:
    """Returns a configuration for each kind of data files that OUT has."""
    there = [(name, files) for name, files in CONFIGS if any(out.path.glob(files))]
    return [
        {
            "config_name": name,
            "data_files": [{"split": "train", "path": files}],
            **({"default": True} if place == 0 else {}),
        }
        for place, (name, files) in enumerate(there)
    ]


def _licence_facts(licence: str) -> dict[str, str]:
    name = licence.lower() or OF_THE_SOURCES
    return {"license": name} if name in LICENCES else {"license": "other", "license_name": name}
