"""API keys: who the caller is, what they may do, and how much. The file holds hashes; a key is shown once.

A key is 32 random bytes, so a plain hash of it cannot be guessed back. Every hash is compared, each in
constant time.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from penstock.errors import UsageError
from penstock.store.atomic_files import store_errors

SCOPES = ("read", "write", "admin")  # each may do what those before it may
PREFIX = "pk_"
ADVICE = "Make one: penstock serve --keys FILE --new-key NAME."


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyOwner:
    """Whose key it is. Of `per_minute` and `max_mb`, 0 is no limit of its own."""

    name: str
    scope: str = "write"
    sha256: str = ""
    per_minute: int = 0
    max_mb: int = 0

    def may(self, scope: str) -> bool:
        return SCOPES.index(self.scope) >= SCOPES.index(scope)


EVERYONE = KeyOwner(name="", scope="admin")  # where there are no keys


class KeyRing:
    """The keys of a service. Without any, everyone may do everything."""

    def __init__(self, owners: Sequence[KeyOwner] = (), clock: Callable[[], float] = time.monotonic) -> None:
        self._owners = tuple(owners)
        self._clock = clock
        self._allowances: dict[str, tuple[float, float]] = {}  # what is left, and when that was

    def __bool__(self) -> bool:
        return bool(self._owners)

    @classmethod
    def open(cls, path: Path) -> KeyRing:
        """Reads a file of keys. Raises UsageError for one that is none, or has no key."""
        owners = read_keys(path)
        if not owners:
            raise UsageError(f"{path} holds no key.", ADVICE)
        return cls(owners)

    def owner(self, headers: Mapping[str, str]) -> KeyOwner | None:
        """Returns the key's owner; None for a wrong key or none."""
        if not self._owners:
            return EVERYONE
        given = hash_of(_key(headers))
        found = None
        for owner in self._owners:  # all of them: how long it takes says nothing
            if hmac.compare_digest(owner.sha256, given):
                found = owner
        return found

    def retry_after(self, owner: KeyOwner) -> float:
        """Counts one request. Returns 0, or the seconds until the owner may ask again."""
        if not owner.per_minute:
            return 0.0
        now, rate = self._clock(), owner.per_minute / 60
        left, since = self._allowances.get(owner.name, (float(owner.per_minute), now))
        left = min(float(owner.per_minute), left + (now - since) * rate)
        self._allowances[owner.name] = (left - 1 if left >= 1 else left, now)
        return 0.0 if left >= 1 else (1 - left) / rate


def hash_of(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest()


def read_keys(path: Path) -> list[KeyOwner]:
    if not path.exists():
        return []
    try:
        owners = [KeyOwner(**row) for row in json.loads(path.read_bytes())]
    except (OSError, ValueError, TypeError) as exc:
        raise UsageError(f"{path} is no file of keys: {exc}.", ADVICE) from exc
    for owner in owners:
        if owner.scope not in SCOPES:
            raise UsageError(
                f"The key {owner.name!r} has no scope {owner.scope!r}.", f"Use {', '.join(SCOPES)}."
            )
    return owners


def new_key(path: Path, name: str, scope: str = "write", per_minute: int = 0, max_mb: int = 0) -> str:
    """Adds a key to the file, and returns it. A name that is there loses its old one."""
    if not name or scope not in SCOPES:
        raise UsageError(f"{name}:{scope} is no key's name and scope.", f"Scopes are {', '.join(SCOPES)}.")
    key = PREFIX + secrets.token_urlsafe(32)
    others = [owner for owner in read_keys(path) if owner.name != name]
    owner = KeyOwner(name=name, scope=scope, sha256=hash_of(key), per_minute=per_minute, max_mb=max_mb)
    with store_errors(path):
        written = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
        written.touch(0o600, exist_ok=False)  # nobody's file or link is written through
        written.write_text(json.dumps([asdict(one) for one in (*others, owner)], indent=1), "utf-8")
        written.replace(path)
    return key


def _key(headers: Mapping[str, str]) -> str:
    """Returns the key of a request: `Authorization: Bearer KEY`, or as other clients send it.

    Some say `token` for Bearer, some send `X-Api-Key`. Those that know no keys at all have the key in their
    server's address, http://any:KEY@host, which HTTP libraries send as Basic.
    """
    kind, _, key = headers.get("authorization", "").partition(" ")
    if kind.lower() == "basic":
        return _password(key)
    return key.strip() if kind.lower() in ("bearer", "token") else headers.get("x-api-key", "")


def _password(encoded: str) -> str:
    try:
        name, _, password = base64.b64decode(encoded, validate=True).decode().partition(":")
    except (binascii.Error, ValueError):
        return ""
    return password or name
