"""Reads a language model's JSON, also when it is slightly broken. Linear in the text; evaluates nothing."""

from __future__ import annotations

import json
import re
from typing import Any

MAX_CHARS = 60_000
_FENCE = re.compile(r"```[a-zA-Z]{0,10}")
_TRAILING = re.compile(r",(\s*[}\]])")
_QUOTES = str.maketrans({"“": '"', "”": '"', "„": '"', "＂": '"'})
_LABELS = {
    "summary_ko": ("자연어 요약", "요약", "한국어 요약", "summary_ko"),
    "summary_en": ("summary", "영어 요약", "summary_en"),
    "keywords_ko": ("키워드", "한국어 키워드", "keywords_ko"),
    "keywords_en": ("keywords", "영어 키워드", "keywords_en"),
    "items": ("항목", "items"),
}
_SECTION = re.compile(r"\s*(?:\[|#{1,4}\s|\*\*)\s*([^\]\n*:]{1,24})(?:\]|\*\*|:|$)[\]*:\s]*(.*)$")


def read_object(text: str) -> dict[str, Any] | None:
    """Returns an answer's first object, repaired if that is easy; else its labelled sections; else None."""
    text = _FENCE.sub(" ", text[:MAX_CHARS])
    start = text.find("{")
    if start >= 0:
        body = _balanced(text[start:])
        for attempt in (body, body.translate(_QUOTES), _mended(body)):
            try:
                value = json.loads(attempt, strict=False)
            except (ValueError, RecursionError):
                continue
            if isinstance(value, dict):
                return value
    return _sections(text)


def _balanced(text: str) -> str:
    """Cuts after the brace that closes the first one; adds what is missing at the end."""
    closers: list[str] = []
    inside = escaped = False
    for place, char in enumerate(text):
        if inside:
            if escaped:
                escaped = False
            elif char == "\\":
                escaped = True
            elif char == '"':
                inside = False
        elif char == '"':
            inside = True
        elif char in "{[":
            closers.append("}" if char == "{" else "]")
        elif char in "}]" and closers and closers.pop() and not closers:
            return text[: place + 1]
        if len(closers) > 50:
            break  # deeper than any answer we ask for
    return text.rstrip().rstrip(",") + ('"' if inside else "") + "".join(reversed(closers))


def _mended(text: str) -> str:
    text = _TRAILING.sub(r"\1", text.translate(_QUOTES))
    if "'" in text and text.count("'") > text.count('"'):
        text = text.replace('"', "\\u0022").replace("'", '"')
    return re.sub(r"\b(None|True|False)\b", lambda found: _WORDS[found[0]], text)


_WORDS = {"None": "null", "True": "true", "False": "false"}


def _sections(text: str) -> dict[str, Any] | None:
    """Reads sections such as `[키워드] a, b` and `**Summary**: ...`, which some models write instead."""
    found: dict[str, list[str]] = {}
    current = ""
    for line in text.split("\n"):
        match = _SECTION.match(line)
        name = _label(match[1]) if match else ""
        if match and name:
            current = name
            line = match[2]
        if current and line.strip():
            found.setdefault(current, []).append(line.strip(" -*•\t"))
    if not found:
        return None
    value: dict[str, Any] = {}
    for name, lines in found.items():
        whole = " ".join(lines)
        value[name] = (
            whole if name.startswith("summary") else [w.strip() for w in re.split(r"[,;、·]\s*", whole)]
        )
    return value


def _label(word: str) -> str:
    plain = word.strip().lower()
    return next((name for name, words in _LABELS.items() if plain in words), "")
