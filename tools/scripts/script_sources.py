"""Sentences and words of other scripts out of translations and word lists that free packages carry.

| package | licence | what of it |
|---|---|---|
| homeassistant 2024.3.3 | Apache-2.0 | labels and sentences of a home's devices |
| apache-airflow-core 3.1.0 | Apache-2.0 | labels of its pages |
| typescript 5.6.3 | Apache-2.0 | Russian messages of a compiler |
| monaco-editor 0.57.0 | MIT | Russian labels of an editor |
| kolibri 0.19.5 | MIT | labels and sentences of a school's pages |
| django, djangorestframework, wagtail | BSD-3-Clause | catalogues |
| jupyterlab-language-pack-ru-RU, -uk-UA | BSD-3-Clause | catalogues |
| faker 40.1.2 | MIT | names, addresses, companies, professions, words |
| cldr-annotations-full, -localenames-full, -dates-full, -units-full 48.2.0 | Unicode-3.0 | names of things, places, languages, times, units |
| dictionary-ru 3.0.0 | BSD-3-Clause | Russian words |
| dictionary-fa 2.0.0 | Apache-2.0 | Persian words |
| pythainlp 5.4.0 | CC0-1.0 (these lists) | Thai words and how common they are |
"""

from __future__ import annotations

import gettext
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from packages import from_npm, from_pypi, members
from script_signs import LETTERS, SCRIPTS, written

from sources import HOLE, leaves, plain_lines

LANGUAGES = {
    "cyrillic": "ru uk bg sr mk be kk ky tg mn",
    "greek": "el",
    "arabic": "ar fa ur ug",
    "hebrew": "he",
    "devanagari": "hi mr ne",
    "thai": "th",
}
SCRIPT_OF = {language: script for script, names in LANGUAGES.items() for language in names.split()}
PYPI = (
    "homeassistant==2024.3.3",
    "apache-airflow-core==3.1.0",
    "kolibri==0.19.5",
    "django==5.2",
    "djangorestframework==3.16.0",
    "wagtail==7.0",
    "jupyterlab-language-pack-ru-RU==4.5.post3",
    "jupyterlab-language-pack-uk-UA==4.5.post3",
    "faker==40.1.2",
)
CLDR = ("annotations", "localenames", "dates", "units")
NPM = ("typescript@5.6.3", "monaco-editor@0.57.0", *(f"cldr-{part}-full@48.2.0" for part in CLDR))
_LANGUAGE = re.compile(r"(?:^|/)([a-z]{2})(?:[_-][A-Za-z]{2,4})?(?=/|\.json$|\.js$)")
_QUOTED = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
MAX_TEXTS, MAX_WORDS = 12_000, 20_000  # of a language and a package's list
LONGEST_WORD = 24
ENDS = " .,:;!?…()[]{}«»„“”\"'‘’،؛؟।-–—/"


def texts(kept: Path) -> dict[str, dict[str, list[str]]]:
    """Texts and words by script, and Latin words under `latin`; each once, in a fixed order."""
    sentences: dict[str, dict[str, dict[str, None]]] = {}
    for language, text in _translations(kept):
        script = SCRIPT_OF[language]
        for part in plain_lines(text):
            if _is_of(part, script) and written(part.replace(HOLE, "0")):
                sentences.setdefault(language, {})[part] = None
    found: dict[str, dict[str, list[str]]] = {}
    for script in SCRIPTS:
        own = [_spread(list(sentences.get(name, {})), MAX_TEXTS) for name in LANGUAGES[script].split()]
        lines = [text for part in own for text in part]
        words = {word: None for text in lines for word in _words(text, script)}
        words |= dict.fromkeys(_listed(kept, script))
        found[script] = {"sentences": lines, "words": list(words)}
    return {**found, "latin": {"words": _latin_words(kept), "sentences": []}}


def _is_of(text: str, script: str) -> bool:
    own = sum(sign in LETTERS[script] for sign in text)
    return own > 0 and 2 * own >= sum(sign.isalpha() and sign.isascii() for sign in text)


def _spread(found: list[str], most: int) -> list[str]:
    """Some of a list, from all over it."""
    return found[:: -(-len(found) // most)] if len(found) > most else found


def _words(text: str, script: str) -> Iterator[str]:
    for word in text.split():
        bare = word.strip(ENDS + HOLE)
        if 1 < len(bare) <= LONGEST_WORD and HOLE not in bare and _is_of(bare, script):
            yield bare


def _translations(kept: Path) -> Iterator[tuple[str, str]]:
    """Languages and texts of all packages."""
    for name in (*PYPI, *NPM):
        archive = from_npm(name, kept) if "==" not in name else from_pypi(name, kept)
        for path, content in sorted(members(archive).items()):
            told = [match for match in _LANGUAGE.findall(path) if match in SCRIPT_OF]
            if told and "/dist/django/" not in path:
                yield from ((told[-1], text) for text in _texts_of(path, content))


def _texts_of(path: str, content: bytes) -> Iterator[str]:
    if path.endswith(".json"):
        yield from leaves(json.loads(content.decode("utf-8-sig")))
    elif path.endswith(".mo"):
        told: dict[Any, str] = gettext.GNUTranslations(io.BytesIO(content))._catalog  # type: ignore[attr-defined]
        yield from (text for key, text in told.items() if key)
    elif path.endswith((".js", ".py")):
        for found in _QUOTED.findall(content.decode()):
            if "{{" not in found:
                yield json.loads(f'"{found}"', strict=False) if "\\u" in found else found


def _listed(kept: Path, script: str) -> list[str]:
    """Words of dictionaries."""
    if script == "cyrillic":
        return _spread(_hunspell("dictionary-ru@3.0.0", kept), MAX_WORDS)
    if script == "arabic":
        return _spread(_hunspell("dictionary-fa@2.0.0", kept), MAX_WORDS)
    if script == "thai":
        files = members(from_pypi("pythainlp==5.4.0", kept))
        common = [row.split("\t")[0] for row in files["pythainlp/corpus/tnc_freq.txt"].decode().splitlines()]
        rare = files["pythainlp/corpus/words_th.txt"].decode().splitlines()
        chosen = (*common[:12_000], *_spread(rare, MAX_WORDS))
        return [word for word in chosen if 0 < len(word) <= LONGEST_WORD and _is_of(word, script)]
    return []


def _hunspell(name: str, kept: Path) -> list[str]:
    rows = members(from_npm(name, kept))["package/index.dic"].decode().splitlines()[1:]
    found = (row.split("/")[0].strip() for row in rows)
    return [word for word in found if 1 < len(word) <= LONGEST_WORD]


def _latin_words(kept: Path) -> list[str]:
    """English words of a compiler's messages."""
    files = members(from_npm("typescript@5.6.3", kept))
    keys = json.loads(files["package/lib/ru/diagnosticMessages.generated.json"].decode("utf-8-sig"))
    words = (word for key in keys for word in re.sub(r"_\d+$", "", key).split("_"))
    return list(dict.fromkeys(word for word in words if word.isascii() and word.isalnum()))
