"""Whether a document obeys a JSON Schema, as the library that everybody has says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def check_schema(document: Any, schema: Path) -> None:
    """Raises ValidationError. The library is imported here: it takes 2 s, which collecting tests must not."""
    import jsonschema

    jsonschema.validate(document, json.loads(schema.read_text("utf-8")))
