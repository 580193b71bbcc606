"""What is shown of addresses and keys: never a login, never what follows the question mark.

`redacted` is for every text that leaves us: errors, log lines, the command in run.json, `repr`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields
from typing import Any
from urllib.parse import urlsplit

SECRETS = frozenset({"password", "api_key", "token", "hf_token", "secret", "callback_secret"})
HIDDEN = "***"

_LOGIN = re.compile(r"(?<=://)[^/?#\s\"<>]*@")
# user:password@host, without the http:// that people leave out
_BARE_LOGIN = re.compile(r"(?<![\w/@.:%-])[^\s/@:\"'<>=,()\[\]{}]+:[^\s/@\"<>]+@(?=[\w\[])")
# the last letter of a sentence or of a list in which an address stands is not the address's
_QUERY = re.compile(r"(://[^\s?#\"<>]*)\?[^\s\"<>]*[^\s\"<>.,:;)'\]]")
_FRAGMENT = re.compile(r"(://[^\s#\"<>]*)#[^\s\"<>]*=[^\s\"<>]*[^\s\"<>.,:;)'\]]")
_ASSIGNED = re.compile(r"(?i)\b(password|passwd|pwd|api[_-]?key|token|secret)=[^\s&\"']+")


def redacted(text: str) -> str:
    """Returns the text with `***` for logins, questions and keys of every address in it."""
    text = _QUERY.sub(rf"\1?{HIDDEN}", without_logins(text))
    text = _FRAGMENT.sub(rf"\1#{HIDDEN}", text)
    return _ASSIGNED.sub(rf"\1={HIDDEN}", _BARE_LOGIN.sub(f"{HIDDEN}@", text))


def without_logins(text: str) -> str:
    """Returns the text with `***` for user and password of every address, and nothing else changed."""
    return _LOGIN.sub(f"{HIDDEN}@", text)


def bare_address(url: str) -> str:
    """Returns an address as it names a thing: scheme, host, port, path. Raises ValueError for none."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{f'[{host}]' if ':' in host else host}{port}{parts.path}"


class SafeRepr:
    """Gives a dataclass a `repr` without secrets. A base of it, before `@dataclass` makes one."""

    __slots__ = ()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "__repr__" not in cls.__dict__:
            cls.__repr__ = SafeRepr.__repr__  # type: ignore[method-assign]  # dataclass leaves one that is there

    def __repr__(self) -> str:
        shown = [each for each in fields(self) if each.repr]  # type: ignore[arg-type]
        words = ", ".join(f"{each.name}={_safe(getattr(self, each.name))!r}" for each in shown)
        return redacted(f"{type(self).__qualname__}({words})")


def _safe(value: object) -> object:
    """Returns a mapping with its passwords and keys hidden; anything else as it is."""
    if not isinstance(value, Mapping):
        return value
    return {name: HIDDEN if name in SECRETS and held else held for name, held in value.items()}
