"""Claims about schemas: what is read of them, and what a hostile one may do."""

from __future__ import annotations

import json
from typing import Any

import pytest

from penstock.documents.fields.schema import MAX_DEPTH, MAX_ENUM, MAX_FIELDS, FieldSchema
from penstock.errors import UsageError


def parsed(value: Any) -> FieldSchema:
    return FieldSchema.parse("s", value if isinstance(value, str) else json.dumps(value))


def test_references_nullable_values_and_arrays_are_read() -> None:
    schema = parsed(
        {
            "$defs": {"party": {"type": "object", "properties": {"name": {"type": "string"}}}},
            "properties": {
                "seller": {"$ref": "#/$defs/party"},
                "paid": {"anyOf": [{"type": "string"}, {"type": "number"}, {"type": "null"}]},
                "when": {"type": ["string", "null"], "format": "date"},
                "codes": {"type": "array", "items": {"type": "string"}},
                "lines": {"items": {"properties": {"amount": {"type": "number"}}}},
            },
        }
    )
    kinds = {field.path: field.kind for field in schema.fields}
    assert kinds == {
        "/seller": "object", "/paid": "number", "/when": "date", "/codes": "array", "/lines": "array",
    }  # fmt: skip
    assert schema.fields[0].fields[0].path == "/seller/name"
    assert schema.fields[3].holds_plain_values and not schema.fields[4].holds_plain_values


def test_a_field_is_found_by_the_schemas_own_words_before_those_of_other_languages() -> None:
    [field] = parsed(
        {
            "properties": {
                "total": {"type": "number", "x-labels": ["Saldo neu"], "description": "see 'Endsaldo'"}
            }
        }
    ).fields
    assert field.labels[:2] == ("Saldo neu", "Endsaldo")
    assert {"grand total", "rechnungsbetrag", "total ttc", "합계"} <= set(field.labels)


def test_an_answer_may_leave_every_value_out() -> None:
    shape = parsed(
        {"properties": {"day": {"format": "date"}, "unit": {"enum": ["kg", "l"]}, "n": {"type": "integer"}}}
    ).answer_schema()
    assert shape["properties"] == {
        "day": {"type": ["string", "null"]},
        "unit": {"enum": ["kg", "l", None]},
        "n": {"type": ["integer", "null"]},
    }
    assert shape["required"] == ["day", "unit", "n"]


ITSELF = {"$ref": "#/$defs/a"}
DEEP: dict[str, Any] = {"type": "string"}
for _ in range(MAX_DEPTH + 3):
    DEEP = {"type": "object", "properties": {"a": DEEP}}
FAN = {
    "$defs": {
        f"d{n}": {"properties": {f"p{k}": {"$ref": f"#/$defs/d{n + 1}"} for k in range(30)}} for n in range(7)
    }
    | {"d7": {"type": "string"}},
    "$ref": "#/$defs/d0",
    "properties": {"x": {"$ref": "#/$defs/d0"}},
}


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ("{", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("[]", "is not an object"),
        ({"type": "object"}, "has no properties"),
        (DEEP, "is deeper than"),
        ({"properties": {"a": {"$ref": "#"}}}, "is deeper than"),
        ({"$defs": {"a": ITSELF}, "properties": {"a": ITSELF}}, "refers to itself"),
        ({"properties": {"a": {"$ref": "http://127.0.0.1:1/x.json"}}}, "which is not fetched"),
        ({"properties": {"a": {"$ref": "file:///etc/passwd"}}}, "which is not fetched"),
        ({"properties": {"a": {"$ref": "#/$defs/none"}}}, "nothing stands there"),
        ({"properties": {"a": {"enum": list(range(MAX_ENUM + 1))}}}, "values to choose from"),
        ({"properties": {f"f{n}": {} for n in range(MAX_FIELDS + 1)}}, "more than"),
        (FAN, "more than"),
        ({"properties": {"a": {"pattern": "(?=a)b"}}}, "pattern that cannot be used"),
        ({"properties": {"a": {"pattern": "(a{1000}){1000}"}}}, "pattern that cannot be used"),
        ({"properties": {"a": {"pattern": "a" * 2000}}}, "pattern that cannot be used"),
    ],
    ids=lambda value: str(value)[:40],
)  # fmt: skip
def test_a_schema_beyond_the_bounds_is_refused_with_a_sentence(schema: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        parsed(schema)


@pytest.mark.parametrize("value", [True, 3, "x", None, [], {"type": 7}, {"enum": "x"}, {"properties": 1}])
def test_a_value_that_is_no_schema_becomes_a_field_of_words(value: Any) -> None:
    assert [field.name for field in parsed({"properties": {"a": value}}).fields] == ["a"]
