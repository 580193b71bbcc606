"""Finds the anchors in a grounded answer: the marks that say what follows and where it stands.

Three dialects are read:
- official      `<|ref|>table<|/ref|><|det|>[[62, 57, 920, 300]]<|/det|>`
- bare          `table[[62, 57, 920, 300]]` on a line of its own: special tokens were stripped
- det first     `<|det|>table [62, 57, 920, 300]<|/det|>content`
Marks that are not closed, not opened, cut off or repeated are taken for what they most likely were.
One pass over the text, in time linear in its length; nothing is ever evaluated.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Dialect = Literal["official", "bare", "det_first", "none"]

_MARK = re.compile(r"<\|(/?)(ref|det)\|>")
# other special tokens, with plain and with full-width bars; a page's own "<image>" is not worth keeping
_TOKEN = re.compile(r"<[|｜](?!/?(?:ref|det)[|｜]>)[^<>|｜\n]{1,40}[|｜]>|<image>")
_CUT_TOKEN = re.compile(r"<(?:[|｜][^<>|｜\s]{0,24}[|｜]?)?$")
_BARE = re.compile(
    r"^[ \t]*([A-Za-z][A-Za-z_]{2,23}(?: [A-Za-z]{2,12})?)[ \t]?"
    r"(\[\[[-+\d., \t\[\]eE]{0,2000}\]\]|\[\[[-+\d., \t\[\]]{0,400}\Z)[ \t]*",
    re.MULTILINE,
)
_DIGITS = frozenset("0123456789.,+-eE \t\n")
MAX_NUMBERS = 4_000  # characters of one anchor's boxes
_DET_FIRST = re.compile(r"\s*([A-Za-z][A-Za-z_ ]{0,31}?)\s*(?=\[)")
_NOISE = re.compile(
    r"^(?:={5,}|(?:NO )?PATCHES:?.*|BASE:\s.*|image(?: size)?:?\s+\(?\d.*|valid image tokens.*|"
    r"output texts? tokens.*|compression ratio.*|image: 0it.*|other: 0it.*)$",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Anchor:
    """One mark and the text up to the next. `label` is None for text before any mark."""

    label: str | None
    numbers: str
    content: str
    issues: tuple[str, ...] = ()


def find_anchors(text: str) -> tuple[Dialect, list[Anchor]]:
    """Returns the dialect and the anchors in order. Text without any mark is one anchor without a label."""
    text = _cleaned(text)
    marks = list(_MARK.finditer(text))
    if marks:
        dialect: Dialect = "official" if any(mark[2] == "ref" for mark in marks) else "det_first"
        return dialect, _marked(text, marks)
    found = [match for match in _BARE.finditer(text) if _is_bare(match)]
    if found:
        return "bare", _bare(text, found)
    return "none", [Anchor(None, "", text)] if text.strip() else []


def _cleaned(text: str) -> str:
    text = text.replace("\x00", "").replace("\r\n", "\n")
    if "torch.Size(" in text[:2000] or "valid image tokens" in text:
        text = _NOISE.sub("", text)  # what transformers' own `infer` prints around its answer
    return _CUT_TOKEN.sub("", _TOKEN.sub("", text))


# bare words are marks only if they are a label we know or carry a whole box: "see table[[1]]" is text
_BARE_LABEL = re.compile(
    r"(?:sub[ _])?title|text|(?:table|image|figure|chart)(?:[ _](?:caption|footnote))?|equation|formula|"
    r"header|footer|page[ _]number|list|reference",
    re.IGNORECASE,
)


def _is_bare(match: re.Match[str]) -> bool:
    return match[2].count(",") >= 3 or _BARE_LABEL.fullmatch(match[1]) is not None


def _bare(text: str, found: Sequence[re.Match[str]]) -> list[Anchor]:
    anchors = [Anchor(None, "", text[: found[0].start()])] if text[: found[0].start()].strip() else []
    ends = [match.start() for match in found[1:]] + [len(text)]
    for match, end in zip(found, ends, strict=True):
        issues = () if match[2].endswith("]]") else ("cut_anchor",)
        anchors.append(Anchor(match[1], match[2], text[match.end() : end], issues))
    return anchors


def _marked(text: str, marks: list[re.Match[str]]) -> list[Anchor]:
    """Walks over the marks; each of them is consumed once."""
    walk = _Walk(text, marks)
    anchors = []
    before = text[: marks[0].start()]
    if before.strip():
        anchors.append(Anchor(None, "", before))
    while walk.more:
        anchors.append(walk.anchor())
    return anchors


class _Walk:
    """A place among the marks of a text. `take` gives each mark's following text, once."""

    def __init__(self, text: str, marks: list[re.Match[str]]) -> None:
        self._text = text
        # one more that is none, at the text's end, so that the last is like the others
        self._marks = [*(mark[0] for mark in marks), ""]
        self._starts = [*(mark.start() for mark in marks), len(text)]
        self._at = 0
        self._issues: list[str] = []

    @property
    def more(self) -> bool:
        return self._marks[self._at] != ""

    def anchor(self) -> Anchor:
        self._issues = []
        mark = self._marks[self._at]
        if mark == "<|ref|>":
            label, content = self._ref()
            if content.strip() or not self._next_is("<|det|>"):
                self._issues.append("no_box")
                return Anchor(label, "", content, tuple(self._issues))
            _, numbers, content = self._det()
            return Anchor(label, numbers, content, tuple(self._issues))
        if mark == "<|det|>":
            label, numbers, content = self._det()
            return Anchor(label, numbers, content, tuple(self._issues))
        return Anchor(None, "", self._take(), ("stray_mark",))  # it closes nothing: its text is content

    def _take(self) -> str:
        start = self._starts[self._at] + len(self._marks[self._at])
        self._at += 1
        return self._text[start : self._starts[self._at]]

    def _next_is(self, mark: str) -> bool:
        return self._marks[self._at] == mark

    def _ref(self) -> tuple[str, str]:
        """Returns the label, and text that stands between it and whatever comes next."""
        label = self._take().strip()
        if self._next_is("<|/ref|>"):
            return label, self._take()
        self._issues.append("unclosed_ref")
        name, _, rest = label.partition("\n")
        return name.strip(), rest

    def _det(self) -> tuple[str, str, str]:
        """Returns the label inside it (or ""), its numbers, and the content after it."""
        inside = self._take()
        named = _DET_FIRST.match(inside)
        label = named[1].strip() if named else ""
        inside = inside[named.end() :] if named else inside
        if self._next_is("<|/det|>"):
            return label, inside, self._take()
        self._issues.append("unclosed_det" if self.more else "cut_anchor")
        end = _end_of_numbers(inside)
        return label, inside[:end], inside[end:]


def _end_of_numbers(text: str) -> int:
    """Returns where the bracket that opens `text` is closed; where digits end if it never is."""
    depth = 0
    for place, char in enumerate(text[:MAX_NUMBERS]):
        if char == "[":
            depth += 1
        elif char == "]":
            depth -= 1
            if depth <= 0:
                return place + 1
        elif char not in _DIGITS:
            return place
    return min(len(text), MAX_NUMBERS)
