"""What the last stage writes of a page."""

from __future__ import annotations

from typing import get_args, get_type_hints

import pytest

from penstock.page import Page
from penstock.region import Region
from penstock.stages.compose import Compose


@pytest.mark.parametrize("order", get_args(get_type_hints(Compose)["order"]))
@pytest.mark.parametrize("label", ["header", "footer", "aside_text", "number", "text"])
def test_the_only_line_of_a_picture_is_in_its_markdown(order: str, label: str) -> None:
    line = Region(label=label, box=(100, 40, 800, 70), content="Annual report of the river board", index=1)
    page = Page(id="a", uri="a.png", document="a.png", part=0, width=1000, height=1400, regions=(line,))
    [written] = Compose(order=order).open()([page])  # type: ignore[arg-type]
    assert written.markdown.strip().lstrip("# ") == "Annual report of the river board"
