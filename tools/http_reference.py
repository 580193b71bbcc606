"""The API's reference as HTML, made from its OpenAPI description: a page of the documentation site.

Everything in the description is text here; only this module writes markup.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any

from penstock.serve.app import app_of
from penstock.serve.reading.service import Service

Told = Mapping[str, Any]
REF = "#/components/schemas/"
METHODS = ("get", "post", "put", "patch", "delete")
BOUNDS = {
    "minimum": "≥",
    "exclusiveMinimum": ">",
    "maximum": "≤",
    "maxLength": "length ≤",
    "maxItems": "items ≤",
}


def http_reference() -> str:
    """Returns the reference of the service's paths and models, as `penstock serve` describes them itself."""
    with tempfile.TemporaryDirectory() as out:
        return reference(app_of(Service(Path(out))).openapi())


def reference(description: Told) -> str:
    """Returns every path and every model of an OpenAPI description."""
    groups = _groups(description)
    return "\n".join(
        [*(_group(name, operations) for name, operations in groups.items()), _models(description)]
    )


def _groups(description: Told) -> dict[str, list[str]]:
    """Returns the operations by tag, each as HTML."""
    found: dict[str, list[str]] = defaultdict(list)
    for path, methods in description["paths"].items():
        for method in METHODS:
            if method in methods:
                told = methods[method]
                found[(told.get("tags") or ["Other"])[0]].append(_operation(path, method, told))
    return found


def _group(name: str, operations: Iterable[str]) -> str:
    return f'<section id="{_slug(name)}"><h2>{escape(name)}</h2>{"".join(operations)}</section>'


def _operation(path: str, method: str, told: Told) -> str:
    words = str(told.get("description", ""))
    first, _, rest = words.partition("\n")
    parts = [
        f'<details id="{_slug(method + path)}"><summary><span class="method {method}">{method.upper()}</span>'
        f" <code>{escape(path)}</code> {_prose(first)}</summary>",
        *(f"<p>{_prose(piece)}</p>" for piece in rest.split("\n\n") if piece.strip()),
        _parameters(told.get("parameters", ())),
        _body(told.get("requestBody", {})),
        _answers(told.get("responses", {})),
        f"<h3>Example</h3><pre>{escape(_curl(path, method, told))}</pre></details>",
    ]
    return "".join(parts)


def _parameters(given: Iterable[Told]) -> str:
    rows = [
        [
            _code(one["name"]) + _star(one.get("required")),
            escape(one["in"]),
            _type(one["schema"]),
            _words(one),
        ]
        for one in given
    ]
    return _table("Parameters", ("name", "in", "type", "what it is"), rows)


def _body(body: Told) -> str:
    told_before: list[list[str]] = []
    return "".join(_content(kind, told, told_before) for kind, told in body.get("content", {}).items())


def _content(kind: str, told: Told, before: list[list[str]]) -> str:
    """Returns one kind of body; fields that the kinds before it have are not told again."""
    schema = told.get("schema", {})
    rows = [row for row in _fields(schema) if row not in before]
    again = "<p>And the other fields above.</p>" if len(rows) < len(_fields(schema)) else ""
    before += rows
    fields = _table(f"Body: {kind}", ("field", "type", "what it is"), rows) + again
    shown = fields or f"<h3>Body: {escape(kind)}</h3><p>{_type(schema)}</p>"
    example = told.get("example")
    return shown + (f"<pre>{escape(_json(example))}</pre>" if example is not None else "")


def _answers(answers: Told) -> str:
    rows = [
        [_code(status), _prose(told.get("description", "")), ", ".join(_kinds(told.get("content", {})))]
        for status, told in answers.items()
    ]
    return _table("Answers", ("status", "when", "what"), rows)


def _kinds(content: Told) -> Iterator[str]:
    for kind, told in content.items():
        schema = told.get("schema")
        yield f"{_code(kind)} {_type(schema)}" if schema else _code(kind)


def _models(description: Told) -> str:
    schemas = description.get("components", {}).get("schemas", {})
    shown = [
        f'<details id="{_slug("model-" + name)}"><summary><code>{escape(name)}</code>'
        f" {_prose(str(schema.get('description', '')))}</summary>"
        f"{_table('Fields', ('field', 'type', 'what it is'), _fields(schema))}</details>"
        for name, schema in schemas.items()
    ]
    return _group("Models", shown)


def _fields(schema: Told) -> list[list[str]]:
    required = schema.get("required", ())
    return [
        [_code(name) + _star(name in required), _type(field), _words(field)]
        for name, field in schema.get("properties", {}).items()
    ]


def _type(schema: Told) -> str:
    """Returns a type in words, with links to models."""
    if "$ref" in schema:
        name = str(schema["$ref"]).removeprefix(REF)
        return f'<a href="#{_slug("model-" + name)}">{escape(name)}</a>'
    if "anyOf" in schema:
        return " or ".join(_type(one) for one in schema["anyOf"] if one.get("type") != "null")
    if "enum" in schema or "const" in schema:
        return " or ".join(_code(_json(value)) for value in schema.get("enum", [schema.get("const")]))
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    if "properties" in schema:
        return f"object of {', '.join(map(_code, schema['properties']))}"
    word = "file" if schema.get("format") == "binary" else str(schema.get("type", "anything"))
    bounds = [f"{sign} {schema[name]}" for name, sign in BOUNDS.items() if name in schema]
    return escape(", ".join([word, *bounds]))


def _words(told: Told) -> str:
    schema = told.get("schema", told)
    words = str(told.get("description") or schema.get("description") or "")
    default = schema.get("default")
    ending = f" Default: {_code(_json(default))}." if default not in (None, "", []) else ""
    return _prose(words) + ending


def _table(title: str, heads: tuple[str, ...], rows: list[list[str]]) -> str:
    """Returns a table of cells that are HTML already; nothing where there are no rows."""
    if not rows:
        return ""
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in heads)
    lines = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>"
    # a table that is wider than a phone is scrolled by keyboard, too
    label = f'class="wide" tabindex="0" role="group" aria-label="{escape(title)}"'
    return f"<h3>{escape(title)}</h3><div {label}>{table}</div>"


def _curl(path: str, method: str, told: Told) -> str:
    """Returns a command that asks this path."""
    query = [
        one["name"] for one in told.get("parameters", ()) if one["in"] == "query" and one.get("required")
    ]
    address = (
        "http://127.0.0.1:8080" + path + ("?" + "&".join(f"{name}=…" for name in query) if query else "")
    )
    content = told.get("requestBody", {}).get("content", {})
    words = ["curl", *([] if method in ("get", "post") else ["-X", method.upper()])]
    if "multipart/form-data" in content:
        words.append("-F files=@report.pdf")
    elif "application/json" in content:
        example = content["application/json"].get("example")
        words.append(f"--json '{json.dumps(example, ensure_ascii=False) if example else '{…}'}'")
    elif "application/octet-stream" in content:
        words.append("--data-binary @report.pdf")
    elif method == "post":
        words.append("-X POST")
    return " ".join([*words, f"'{address}'"])


def _prose(text: str) -> str:
    """Returns words in one line; what stands between backticks is code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(" ".join(text.split())))


def _code(text: str) -> str:
    return f"<code>{escape(text)}</code>"


def _star(required: Any) -> str:
    return ' <abbr title="needed">*</abbr>' if required else ""


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1 if isinstance(value, dict) else None)


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
