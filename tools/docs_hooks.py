"""What mkdocs calls while it builds the site.

Makes the reference and llms.txt, and sends links that lead out of docs/ to the repository.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path, PurePosixPath
from typing import Any

REPO = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(REPO / "tools"))

import docs_reference  # noqa: E402  mkdocs loads a hook by its path, so tools/ is not on sys.path before
import llms_txt  # noqa: E402

_LINK = re.compile(r"\]\((?P<target>\.\./[^)#\s]+)(?P<rest>[^)]*)\)")


def on_pre_build(config: Any, **_: Any) -> None:
    docs_reference.write(Path(config["docs_dir"]) / "reference")


def on_post_build(config: Any, **_: Any) -> None:
    llms_txt.main(Path(config["site_dir"]) / "llms.txt")


def on_page_markdown(markdown: str, page: Any, config: Any, **_: Any) -> str:
    """A link to a file that is in the repository and not in docs/ becomes its address there."""
    folder = PurePosixPath("docs", page.file.src_uri).parent

    def moved(found: re.Match[str]) -> str:
        path = (REPO / folder / found["target"]).resolve()
        if not path.exists() or path.is_relative_to(REPO / "docs"):
            return found[0]  # a page of the site, or one that mkdocs will complain of
        kind = "tree" if path.is_dir() else "blob"
        return f"]({config['repo_url']}/{kind}/main/{path.relative_to(REPO).as_posix()}{found['rest']})"

    return _LINK.sub(moved, markdown)
