"""Writes the types of the TypeScript client from the service's OpenAPI description.

    python tools/typescript_client.py clients/typescript/src/api.ts

Of our own paths only: those in the shapes of other projects have clients of their own. What calls them is
written by hand, in clients/typescript/src/client.ts.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from penstock.passes.parse import ParseOptions
from penstock.serve.app import OURS, ServiceSettings, app_of
from penstock.serve.reading.service import Service
from penstock.testing.fake_recipe import fake

HEAD = "// Made by tools/typescript_client.py from the service's OpenAPI description. Do not edit.\n"
TAGS = {*OURS, "Status"}
FORM, JSON = "multipart/form-data", "application/json"
BASIC = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}
Description = dict[str, Any]


def main(target: str) -> None:
    Path(target).write_text(written(described()), "utf-8")


def described() -> Description:
    """Returns the description of a service that takes documents."""
    with tempfile.TemporaryDirectory() as folder:
        settings = ServiceSettings(reading=ParseOptions(inputs=()))
        return app_of(Service(Path(folder) / "out", fake()), settings).openapi()


def written(description: Description) -> str:
    operations = [
        (method.upper(), path, operation)
        for path, methods in description["paths"].items()
        for method, operation in methods.items()
        if TAGS.intersection(operation.get("tags", ()))
    ]
    types = {**description["components"]["schemas"], **dict(_forms(operations))}
    parts = [_interface(name, schema) for name, schema in types.items()]
    lines = "\n".join(
        f"  {operation['operationId']}: {_operation(operation)};" for *_, operation in operations
    )
    parts.append(f"export interface Operations {{\n{lines}\n}}\n")
    parts.append(_paths(operations))
    return "\n".join([HEAD, *parts])


def _forms(operations: Iterable[tuple[str, str, Description]]) -> Iterator[tuple[str, Description]]:
    """Yields the options of each form, named after its operation; files are given beside them."""
    for *_, operation in operations:
        form = operation.get("requestBody", {}).get("content", {}).get(FORM)
        if form is not None:
            options = {
                name: schema for name, schema in form["schema"]["properties"].items() if not _is_file(schema)
            }
            name = operation["operationId"][:1].upper() + operation["operationId"][1:] + "Options"
            yield (
                name,
                {"properties": options, "description": "Options of the form. Files are given beside them."},
            )


def _is_file(schema: Description) -> bool:
    return schema.get("items", schema).get("format") == "binary"


def _interface(name: str, schema: Description) -> str:
    required = schema.get("required", ())
    fields = "".join(
        f"{_comment(field, '  ')}  {key}{'' if key in required else '?'}: {_type(field)};\n"
        for key, field in schema.get("properties", {}).items()
    )
    return f"{_comment(schema)}export interface {name} {{\n{fields}}}\n"


def _operation(operation: Description) -> str:
    given = [one for one in operation.get("parameters", []) if one["in"] != "header"]
    fields = "; ".join(f"{json.dumps(one['name'])}{_mark(one)}: {_type(one['schema'])}" for one in given)
    body = operation.get("requestBody", {}).get("content", {}).get(JSON, {}).get("schema")
    sent = _type(body) if body is not None and "$ref" in body else "unknown"
    return f"{{ parameters: {{ {fields} }}; body: {sent}; answer: {_answer(operation)} }}"


def _mark(parameter: Description) -> str:
    return "" if parameter.get("required") else "?"


def _answer(operation: Description) -> str:
    """Returns the type of a successful JSON answer; `unknown` where there is another or none."""
    found = (answer for code, answer in operation["responses"].items() if code.startswith("2"))
    for answer in found:
        schema = answer.get("content", {}).get(JSON, {}).get("schema")
        if schema:
            return _type(schema)
    return "unknown"


def _type(schema: Description) -> str:
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "anyOf" in schema:
        return " | ".join(dict.fromkeys(_type(one) for one in schema["anyOf"]))
    if "enum" in schema:
        return " | ".join(json.dumps(value) for value in schema["enum"])
    if schema.get("type") == "array":
        return f"Array<{_type(schema.get('items', {}))}>"
    if schema.get("type") == "object" or "properties" in schema:
        inner = schema.get("additionalProperties")
        return f"Record<string, {_type(inner) if isinstance(inner, dict) else 'unknown'}>"
    return BASIC.get(schema.get("type", ""), "unknown")


def _comment(schema: Description, indent: str = "") -> str:
    text = " ".join(str(schema.get("description", "")).split()).replace("*/", "* /")
    return f"{indent}/** {text} */\n" if text else ""


def _paths(operations: Iterable[tuple[str, str, Description]]) -> str:
    lines = "".join(
        f'  {operation["operationId"]}: ["{method}", "{path}"],\n' for method, path, operation in operations
    )
    return f"export const PATHS: Record<keyof Operations, [method: string, path: string]> = {{\n{lines}}};\n"


if __name__ == "__main__":
    main(sys.argv[1])
