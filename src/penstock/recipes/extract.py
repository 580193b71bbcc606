"""The recipe of extraction: documents of a run to the values of a schema."""

from __future__ import annotations

from penstock.documents.fields.schema import FieldSchema
from penstock.errors import UsageError
from penstock.plan import Plan
from penstock.stages.extract import Extract


def extract(
    schema: FieldSchema,
    server: tuple[str, ...] = (),
    model: str = "",
    max_tokens: int = 2_000,
    api_key: str | None = None,
    in_flight: int = 64,
) -> Plan:
    """A schema's fields by rules; with a server also by its model, as far as pages hold what it says."""
    if model and not server:
        raise UsageError("A model was named without its server.", "Add --server http://host:8000.")
    stage = Extract(
        schema_name=schema.name,
        schema=schema.text,
        model=model,
        asks=bool(server),
        max_tokens=max_tokens,
        servers=server,
        in_flight=in_flight,
        api_key=api_key,
    )
    return Plan(stage, name="extract")
