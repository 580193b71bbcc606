"""Prints the oldest version of each package that Penstock says it works with, as pins for pip.

    python tools/lowest_versions.py search serve photos

Words are extras of pyproject.toml. `make test-lowest` runs the main commands with these.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"
_ASKED = re.compile(r"^([A-Za-z0-9_.\-]+)(?:\[[^\]]*\])?\s*(>=|==)\s*([0-9.]+)")


def pins(asked: Sequence[str]) -> Iterator[str]:
    """The newest patch of the oldest minor version: `pillow>=11` is `pillow==11.0.*`."""
    for requirement in asked:
        found = _ASKED.match(requirement)
        if found is None:
            continue
        name, sign, version = found.groups()
        parts = version.split(".")
        exact = sign == "==" or len(parts) > 2
        yield f"{name}=={version}" if exact else f"{name}=={'.'.join((*parts, '0')[:2])}.*"


def main() -> None:
    project = tomllib.loads(PROJECT.read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    asked = [*project["dependencies"], *(line for word in sys.argv[1:] for line in extras[word])]
    print("\n".join(dict.fromkeys(pins(asked))))


if __name__ == "__main__":
    main()
