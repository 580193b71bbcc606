"""A JSON Schema as the fields to look for.

What is read: objects, arrays, text, dates, numbers, enumerations, patterns, references within the file. A
schema is a stranger's: its size, depth and references have bounds, and nothing it names is ever fetched.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from penstock.documents.fields.labels import Concept, words_of
from penstock.documents.fields.patterns import check_pattern
from penstock.errors import UsageError

FieldKind = Literal["text", "date", "number", "integer", "boolean", "object", "array"]
NUMBERS = ("number", "integer")
MAX_CHARS = 1_000_000
MAX_DEPTH = 8
MAX_FIELDS = 500
MAX_ENUM = 2_000
MAX_REFERENCES = 20  # one after another, until something stands there

_QUOTED = re.compile(r"[\"'“„«]([^\"'“”„«»]{2,40})[\"'”“»]")
_LABEL_WORDS = 5  # a longer description is a sentence


@dataclass(frozen=True, slots=True)
class Field:
    """One value that is looked for. `path` is its JSON pointer; `labels` come in the order of trust.

    `fields` are those of an object, or of the objects of an array; an array of plain values has one.
    """

    name: str
    path: str
    kind: FieldKind
    labels: tuple[str, ...] = ()
    concepts: tuple[Concept, ...] = ()
    choices: tuple[Any, ...] = ()
    pattern: str = ""
    fields: tuple[Field, ...] = ()

    def is_a(self, *names: str) -> bool:
        """Whether it is one of these things, by what it is called."""
        return any(concept.name in names for concept in self.concepts)

    def item_path(self, number: int, inner: Field) -> str:
        """Returns the path of a field of this array's object of that number."""
        return f"{self.path}/{number}{inner.path[len(self.path) :]}"

    @property
    def holds_plain_values(self) -> bool:
        """Whether this is an array of numbers, dates or words, and not of objects."""
        return len(self.fields) == 1 and self.fields[0].path == self.path


@dataclass(frozen=True, slots=True)
class FieldSchema:
    """What is looked for, and the schema's name. `text` is its JSON on one line."""

    name: str
    text: str
    fields: tuple[Field, ...]

    @classmethod
    def parse(cls, name: str, text: str) -> FieldSchema:
        """Returns the fields of a JSON Schema. Raises UsageError for what is none or beyond the bounds."""
        if len(text) > MAX_CHARS:
            raise UsageError(f"The schema {name} has {len(text)} characters; {MAX_CHARS} are read.")
        try:
            value = json.loads(text)
            canonical = json.dumps(value, ensure_ascii=False)
        except (ValueError, RecursionError) as exc:
            raise UsageError(f"The schema {name} is not JSON: {exc}.") from exc
        if not isinstance(value, dict):
            raise UsageError(f"The schema {name} is not an object of JSON Schema.")
        fields = tuple(_SchemaReader(name, value).properties(value, "", "", 0))
        if not fields:
            raise UsageError(f"The schema {name} has no properties.", 'Write {"properties": {...}}.')
        return cls(name, canonical, fields)

    def answer_schema(self) -> dict[str, Any]:
        """Returns what an answer of a model must look like: our own words, so that no server is given more.

        Every value may be null: a model that must write something invents it.
        """
        return _object_schema(self.fields)


def empty_value(field: Field) -> Any:
    """Returns what stands for a field that was not found."""
    if field.kind == "object":
        return {inner.name: empty_value(inner) for inner in field.fields}
    return [] if field.kind == "array" else None


@dataclass(frozen=True, slots=True)
class _SchemaReader:
    """Goes through one schema and counts what it makes."""

    name: str
    root: Mapping[str, Any]

    def properties(self, node: Mapping[str, Any], path: str, parent: str, depth: int) -> Iterator[Field]:
        listed = node.get("properties")
        if not isinstance(listed, dict):
            return
        if depth > MAX_DEPTH:
            raise self._wrong(path, f"is deeper than {MAX_DEPTH} levels; does it hold itself?")
        made = 0
        for name, value in listed.items():
            field = self._field(name, value, f"{path}/{_escaped(name)}", parent, depth)
            made += _size(field)
            if made > MAX_FIELDS:
                raise self._wrong(path, f"has more than {MAX_FIELDS} fields.")
            yield field

    def _field(self, name: str, value: Any, path: str, parent: str, depth: int) -> Field:
        node = self._resolved(value, path)
        kind = _kind(node)
        words = f"{parent} {name}".strip()
        if kind == "object":
            return Field(name, path, kind, fields=tuple(self.properties(node, path, words, depth + 1)))
        if kind == "array":
            return Field(name, path, kind, fields=self._items(node, path, name, depth))
        called = words_of(words, _own_labels(node))
        return Field(
            name, path, kind, called.labels, called.concepts,
            choices=self._choices(node, path), pattern=self._pattern(node, path),
        )  # fmt: skip

    def _items(self, node: Mapping[str, Any], path: str, name: str, depth: int) -> tuple[Field, ...]:
        inner = self._resolved(node.get("items", {}), path)
        if _kind(inner) == "object":
            return tuple(self.properties(inner, path, "", depth + 1))
        return (self._field(name, inner, path, "", depth + 1),) if depth < MAX_DEPTH else ()

    def _resolved(self, value: Any, path: str) -> Mapping[str, Any]:
        """Returns the schema that stands there, through references and `anyOf` with null."""
        for _ in range(MAX_REFERENCES):
            if not isinstance(value, dict):
                return {}
            around = {key: value[key] for key in ("title", "description", "x-labels") if key in value}
            if "$ref" in value:
                value = {**self._target(value["$ref"], path), **around}
                continue
            if branches := _branches(value):
                value = {**branches[0], **around} if isinstance(branches[0], dict) else branches[0]
                continue
            return value
        raise self._wrong(path, "refers to itself.")

    def _target(self, reference: Any, path: str) -> Mapping[str, Any]:
        if not isinstance(reference, str) or not reference.startswith("#"):
            raise self._wrong(
                path, f"refers to {str(reference)[:80]!r}, which is not fetched; put it into $defs."
            )
        found: Any = self.root
        for part in reference[1:].split("/")[1:]:
            key = part.replace("~1", "/").replace("~0", "~")
            found = found.get(key) if isinstance(found, dict) else None
        if not isinstance(found, dict):
            raise self._wrong(path, f"refers to {reference[:80]!r}, and nothing stands there.")
        return found

    def _choices(self, node: Mapping[str, Any], path: str) -> tuple[Any, ...]:
        listed = node["enum"] if isinstance(node.get("enum"), list) else []
        listed = [node["const"]] if "const" in node else listed
        plain = tuple(value for value in listed if isinstance(value, str | int | float))
        if len(plain) > MAX_ENUM:
            raise self._wrong(path, f"has {len(plain)} values to choose from; {MAX_ENUM} are read.")
        return plain

    def _pattern(self, node: Mapping[str, Any], path: str) -> str:
        pattern = node.get("pattern")
        if not isinstance(pattern, str) or not pattern:
            return ""
        if problem := check_pattern(pattern):
            raise self._wrong(path, f"has a pattern that cannot be used: {problem}")
        return pattern

    def _wrong(self, path: str, what: str) -> UsageError:
        return UsageError(f"The schema {self.name}: {path or '/'} {what}")


def _branches(node: Mapping[str, Any]) -> list[Any]:
    """Returns what a value may be besides null, numbers first: they are checked most strictly."""
    for key in ("anyOf", "oneOf", "allOf"):
        listed = node.get(key)
        if isinstance(listed, list):
            real = [one for one in listed if not (isinstance(one, dict) and one.get("type") == "null")]
            return sorted(
                real, key=lambda one: isinstance(one, dict) and one.get("type") not in ("number", "integer")
            )
    return []


def _kind(node: Mapping[str, Any]) -> FieldKind:
    given = node.get("type")
    types = [one for one in (given if isinstance(given, list) else [given]) if one != "null"]
    untyped = "object" if "properties" in node else "array" if "items" in node else "string"
    name = types[0] if types and types[0] is not None else untyped
    if name == "string" and node.get("format") in ("date", "date-time"):
        return "date"
    known: dict[Any, FieldKind] = {
        "number": "number", "integer": "integer", "boolean": "boolean", "object": "object", "array": "array",
    }  # fmt: skip
    return known.get(name, "text") if isinstance(name, str) else "text"


def _own_labels(node: Mapping[str, Any]) -> list[str]:
    """Returns what the schema itself calls a value: `x-labels`, its title, names in its description."""
    given = node.get("x-labels")
    found = [one for one in given if isinstance(one, str)] if isinstance(given, list) else []
    if isinstance(given, str):
        found = [given]
    if isinstance(title := node.get("title"), str):
        found.append(title)
    if isinstance(words := node.get("description"), str):
        found += _QUOTED.findall(words[:1000])
        found += [words] if len(words.split()) <= _LABEL_WORDS else []
    return [one[:80] for one in found[:50] if one.strip()]


def _object_schema(fields: tuple[Field, ...]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {field.name: _answer(field) for field in fields},
        "required": [field.name for field in fields],
        "additionalProperties": False,
    }


def _answer(field: Field) -> dict[str, Any]:
    if field.kind == "object":
        return _object_schema(field.fields)
    if field.kind == "array":
        inner = _answer(field.fields[0]) if field.holds_plain_values else _object_schema(field.fields)
        return {"type": "array", "items": inner}
    if field.choices:
        return {"enum": [*field.choices, None]}
    plain = {"text": "string", "date": "string"}.get(field.kind, field.kind)
    return {"type": [plain, "null"]}


def _size(field: Field) -> int:
    return 1 + sum(map(_size, field.fields))


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
