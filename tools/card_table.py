"""Writes the table of cards in docs/how-to/cards.md: what each preset and model take, by the budget's code.

    python tools/card_table.py [PAGE]

A test compares the page with what this writes.
"""

from __future__ import annotations

import sys
from pathlib import Path

from penstock.engines.chat.deepseek.pages import MODELS as PAGE_MODELS
from penstock.engines.vllm.embedding_presets import NAMES as EMBEDDERS
from penstock.engines.vllm.memory_budget import CARD_MIB, MemoryBudget, memory_budget
from penstock.engines.vllm.presets import Card
from penstock.engines.vllm.server_plan import embedding_server, reading_servers
from penstock.sizes import memory_size

PAGE = Path(__file__).resolve().parent.parent / "docs" / "how-to" / "cards.md"
BEGIN, END = "<!-- made by tools/card_table.py -->\n", "<!-- end of what is made -->\n"
READERS = ("glm-ocr", "paddleocr-vl", "deepseek-ocr")  # deepseek-ocr-2 takes what deepseek-ocr takes
HEAD = "| model | card | servers | weights | KV cache | tokens | longest requests | layout | left |"


def table() -> str:
    """Returns the table, a row for each model and preset."""
    models = (*READERS, *EMBEDDERS)
    rows = (_row(model, card, budget(model, card)) for model in models for card in reversed(CARD_MIB))
    return "\n".join((HEAD, "|---|---|---|---|---|---|---|---|---|", *rows)) + "\n"


def budget(model: str, card: str) -> MemoryBudget:
    """Returns how the smallest card of a preset is divided."""
    size = CARD_MIB[card] << 20
    here = Card(0, card, size / 1e9)
    if model in EMBEDDERS:
        chosen = [embedding_server(EMBEDDERS[model], here, preset_name=card)]
    else:
        chosen = reading_servers(model, [here], preset_name=card)
    command = chosen[0].managed().command(["vllm"])
    has_layout = model not in (*PAGE_MODELS, *EMBEDDERS)
    found = memory_budget(chosen[0].model, command, size, len(chosen), has_layout)
    assert found is not None  # every model of the table has a shape
    return found


def _row(model: str, card: str, found: MemoryBudget) -> str:
    cells = (
        f"`{model}`",
        f"`{card}`, {memory_size(found.card)}",
        str(found.servers),
        memory_size(found.weights),
        memory_size(found.kv),
        f"{found.kv_tokens:,}",
        f"{found.kv_tokens // found.context:,} of {found.context:,}" if found.context else "",
        memory_size(found.layout) if found.layout else "none",
        memory_size(found.left),
    )
    return f"| {' | '.join(cells)} |"


def with_table(page: str) -> str:
    """Returns the page with the table of now between its marks."""
    before, _, rest = page.partition(BEGIN)
    return f"{before}{BEGIN}{table()}{END}{rest.partition(END)[2]}"


def main(arguments: list[str]) -> None:
    page = Path(arguments[0]) if arguments else PAGE
    page.write_text(with_table(page.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
