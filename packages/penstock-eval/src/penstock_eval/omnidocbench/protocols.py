"""The versions of OmniDocBench's protocol, as the rules in which they differ."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.errors import UsageError

# Parts of a page that are never scored. They are matched, so that their predictions go to no other part.
IGNORED = frozenset(
    [
        "figure_caption",
        "figure_footnote",
        "table_caption",
        "table_footnote",
        "code_algorithm",
        "code_algorithm_caption",
        "header",
        "footer",
        "page_footnote",
        "page_number",
        "equation_caption",
    ]
)
TEXT_CATEGORIES = (
    "text_block", "title", "code_txt", "code_txt_caption", "reference", "equation_caption",
    "figure_caption", "figure_footnote", "table_caption", "table_footnote", "code_algorithm",
    "code_algorithm_caption", "header", "footer", "page_footnote", "page_number",
)  # fmt: skip
FORMULA_CATEGORY = "equation_isolated"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtocolVersion:
    """One version. `joint` matches text and formulas together, not each with its own kind."""

    name: str
    joint: bool
    missing_is_empty: bool = False  # a page without a prediction file counts as an empty one
    granular: bool = False  # v1.6 cuts, cleans and matches by its own rules; see the package v1_6


V1_0 = ProtocolVersion(name="v1.0", joint=False)
V1_5 = ProtocolVersion(name="v1.5", joint=True)
V1_6 = ProtocolVersion(
    name="v1.6",
    joint=True,
    missing_is_empty=True,
    granular=True,
)

PROTOCOLS = {protocol.name: protocol for protocol in (V1_0, V1_5, V1_6)}


def protocol_named(name: str) -> ProtocolVersion:
    found = PROTOCOLS.get(name if name.startswith("v") else f"v{name}")
    if found is None:
        raise UsageError(
            f"There is no OmniDocBench protocol {name!r}.", f"Use one of {', '.join(PROTOCOLS)}."
        )
    return found
