"""Puts an extraction together: what rules find, and what a model says as far as pages prove it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from penstock.documents.fields.extraction import NOT_ON_PAGE, Extraction, FoundField, RefusedValue
from penstock.documents.fields.find import RuleFinder
from penstock.documents.fields.line_items import MAX_ITEMS, line_items
from penstock.documents.fields.page_rows import DocumentText
from penstock.documents.fields.proof import Prover, Unfit
from penstock.documents.fields.schema import Field, FieldSchema, empty_value
from penstock.documents.fields.values import habit_of


@dataclass
class _Findings:
    """What was found so far."""

    fields: list[FoundField] = field(default_factory=list)
    refused: list[RefusedValue] = field(default_factory=list)


def by_rules(schema: FieldSchema, text: DocumentText) -> Extraction:
    """Returns what labels, tables and patterns give."""
    return with_answer(schema, text, {}, "")


def with_answer(schema: FieldSchema, text: DocumentText, answer: Mapping[str, Any], model: str) -> Extraction:
    """Returns a model's values as far as a page holds them, and what rules find where it has none."""
    habit = habit_of(row.text for row in text.rows)
    reader = _FieldReading(text, RuleFinder(text, habit), Prover(text, habit), _Findings())
    values = {one.name: reader.value(one, one.path, answer.get(one.name)) for one in schema.fields}
    found = reader.findings
    return Extraction(
        values=values, fields=tuple(found.fields), refused=tuple(found.refused), model=model,
        missing=tuple(_missing(schema.fields, values)),
    )  # fmt: skip


@dataclass(frozen=True)
class _FieldReading:
    """Goes through the fields of one document."""

    text: DocumentText
    rules: RuleFinder
    prover: Prover
    findings: _Findings

    def value(self, field: Field, path: str, given: Any) -> Any:
        if field.kind == "object":
            inside = given if isinstance(given, Mapping) else {}
            return {
                inner.name: self.value(inner, _below(path, inner), inside.get(inner.name))
                for inner in field.fields
            }
        if field.kind == "array":
            return self._array(field, path, given)
        found = self._proved(field, path, given) or self.rules.find(field)
        if found is None:
            return empty_value(field)
        self.findings.fields.append(found)
        return found.value

    def _array(self, field: Field, path: str, given: Any) -> list[Any]:
        if isinstance(given, Sequence) and not isinstance(given, str) and given:
            said = [self._item(field, f"{path}/{index}", one) for index, one in enumerate(given[:MAX_ITEMS])]
            return [one for one in said if _holds(one)]
        items, found = line_items(field, self.text, self.rules.habit)
        self.findings.fields += found
        return items

    def _item(self, field: Field, path: str, given: Any) -> Any:
        """Returns one of a model's objects: without rules, which would fill it from another row."""
        if field.holds_plain_values:
            return self._leaf(field.fields[0], path, given)
        inside = given if isinstance(given, Mapping) else {}
        return {
            inner.name: self._inner(inner, _below(path, inner), inside.get(inner.name))
            for inner in field.fields
        }

    def _inner(self, field: Field, path: str, given: Any) -> Any:
        if field.kind in ("object", "array"):
            return self.value(field, path, given) if given else empty_value(field)
        return self._leaf(field, path, given)

    def _leaf(self, field: Field, path: str, given: Any) -> Any:
        found = self._proved(field, path, given)
        if found is None:
            return None
        self.findings.fields.append(found)
        return found.value

    def _proved(self, field: Field, path: str, given: Any) -> FoundField | None:
        if given is None or given == "":
            return None
        try:
            found = self.prover.prove(field, path, given)
            reason = NOT_ON_PAGE
        except Unfit as exc:
            found, reason = None, str(exc)
        if found is None:
            self.findings.refused.append(RefusedValue(path=path, value=given, reason=reason))
        return found


def _below(path: str, inner: Field) -> str:
    return f"{path}/{inner.path.rsplit('/', 1)[1]}"


def _holds(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_holds, value.values()))
    return any(map(_holds, value)) if isinstance(value, list) else value is not None


def _missing(fields: Sequence[Field], values: Mapping[str, Any]) -> Iterator[str]:
    """Yields the paths of fields without a value."""
    for one in fields:
        value = values.get(one.name)
        if one.kind == "object":
            yield from _missing(one.fields, value or {})
        elif value is None or value == []:
            yield one.path
