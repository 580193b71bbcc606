"""The words that ask a recogniser about a whole picture.

Text, a table or a formula is asked for with the recogniser's own prompt. A question is sent unchanged.
Fields are asked for as a JSON object with empty values: a model that was trained to fill in fields has a
prompt of its own for it, all others get a general one.
"""

from __future__ import annotations

import json

from penstock.engines.chat.recognisers import Recogniser
from penstock.region import Asking

SCHEMA = "{schema}"  # the place of the JSON object in a prompt for fields
FILL_IN = (
    "Read the fields of this JSON object from the document in the picture. Answer with the same JSON object "
    'only: every value as it is printed, "" where the document has none.\n' + SCHEMA
)


def prompt_for(asking: Asking, recogniser: Recogniser) -> str:
    """Returns the words that are sent with the picture."""
    if asking.task == "question":
        return _sendable(asking.words)
    if asking.task == "fields":
        schema = json.dumps(dict.fromkeys(asking.fields, ""), ensure_ascii=False, indent=4)
        return recogniser.prompts.get("fields", FILL_IN).replace(SCHEMA, _sendable(schema))
    return recogniser.prompt(asking.task)


def _sendable(words: str) -> str:
    """Returns a stranger's words with halves of surrogate pairs replaced: no request can hold those."""
    return words.encode("utf-8", "replace").decode()
