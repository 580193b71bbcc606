"""Words that an option is one of, in a module that loads nothing: `penstock parse --help` needs them."""

from __future__ import annotations

from typing import Literal

FlattenUse = Literal["auto", "off", "always"]  # of photographs of pages
LayerUse = Literal["auto", "always", "never"]  # of a PDF's own text
Merge = Literal["large", "small", "union"]  # of boxes inside boxes
Precision = Literal["fp32", "fp16", "bf16"]  # of the layout network
