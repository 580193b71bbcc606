"""The paths of the API as one HTML page for people, made from its OpenAPI description.

It names each path and what it does; parameters, bodies and answers are in openapi.json, which it links to.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from html import escape
from typing import Any

METHODS = ("get", "post", "put", "patch", "delete")
# the service's policy allows no style inside a page
STYLES = ("web/colours.css", "web/reference.css")
INTRO = """<p>Answers are JSON unless a path says otherwise; errors are JSON with <code>error</code> and
<code>advice</code>. Where the service has keys, send one: <code>Authorization: Bearer KEY</code>.
Parameters, bodies and answers of each path: <a href="openapi.json">openapi.json</a>.</p>"""


def paths_page(description: Mapping[str, Any]) -> str:
    """Returns the page of an OpenAPI description. All of the description is text in it."""
    title = f"{escape(description['info']['title'])} API"
    rows: dict[str, list[str]] = defaultdict(list)
    for path, methods in description["paths"].items():
        for method in METHODS:
            if method in methods:
                operation = methods[method]
                rows[(operation.get("tags") or ["Other"])[0]].append(_row(path, method, operation))
    return "\n".join(
        [
            f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            *(f'<link rel="stylesheet" href="{path}">' for path in STYLES),
            f"</head><body><h1>{title} <small>{escape(description['info']['version'])}</small></h1>{INTRO}",
            *(f"<h2>{escape(name)}</h2><table>{''.join(lines)}</table>" for name, lines in rows.items()),
            "</body></html>\n",
        ]
    )


def _row(path: str, method: str, operation: Mapping[str, Any]) -> str:
    about = " ".join(str(operation.get("description", "")).partition("\n\n")[0].split())
    words = re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(about))
    return (
        f'<tr><th scope="row" class="method {method}">{method.upper()}</th>'
        f"<td><code>{escape(path)}</code></td><td>{words}</td></tr>"
    )
