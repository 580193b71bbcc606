"""The names of what can write summaries: nothing, rules, or a language model."""

from __future__ import annotations

from typing import Literal

TextEngine = Literal["none", "rule", "llm"]
