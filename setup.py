"""Gives the package index a README whose links lead somewhere there. All else is in pyproject.toml."""

import re
from pathlib import Path

from setuptools import setup

HOME = "penstock-pipeline/penstock"
PICTURES = f"https://raw.githubusercontent.com/{HOME}/main/"
PAGES = f"https://github.com/{HOME}/blob/main/"


def absolute(text: str) -> str:
    """Returns the text with the project's address before every link to a file of it."""
    text = re.sub(r"(!\[[^\]]*\]\()(?![a-z]+:|#)", rf"\g<1>{PICTURES}", text)
    return re.sub(r"((?<!!)\[[^\]]*\]\()(?![a-z]+:|#)", rf"\g<1>{PAGES}", text)


setup(
    long_description=absolute(Path(__file__).with_name("README.md").read_text("utf-8")),
    long_description_content_type="text/markdown",
)
