"""Object stores by their addresses: s3://, gs://, az://. Credentials come from where their own tools look.

Each request is tried again when a store is busy or a connection breaks, within a bound. What fails for good
is a StoreError with the reason. The package obstore is loaded when an address is opened.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING
from urllib.parse import unquote

from penstock.errors import StoreError, UsageError, first_line, install_advice
from penstock.redaction import SafeRepr

if TYPE_CHECKING:
    from obstore.store import ObjectStore

ADDRESS = re.compile(r"(s3a?|gs|az|adl|azure|abfss?):/+(.+)", re.IGNORECASE | re.DOTALL)
_FILE = re.compile(r"file:(?://)?(/(?!/).*)", re.IGNORECASE | re.DOTALL)
MAX_TRIES = 12  # of one request, with pauses between them
RETRY_S = 300.0
REQUEST_S = 120.0
MAX_REASON_CHARS = 300
ENDPOINTS = ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT", "AZURE_ENDPOINT", "GOOGLE_BASE_URL")


@dataclass(frozen=True, slots=True)
class ObjectName(SafeRepr):
    """One version of an object, as any machine finds it."""

    address: str  # of the store
    key: str
    tag: str


def is_object_address(text: str | os.PathLike[str]) -> bool:
    """Returns whether it is an address of an object store, also as a path that lost a slash of it."""
    return ADDRESS.fullmatch(os.fspath(text)) is not None


def is_hub_address(text: str | os.PathLike[str]) -> bool:
    """Returns whether it is an address on the Hugging Face Hub."""
    return os.fspath(text)[:4].lower() == "hf:/"


def local_path(text: str) -> str:
    """Returns the path that a file:// address names; anything else as it is."""
    match = _FILE.fullmatch(text)
    return unquote(match[1]) if match else text


def normal_address(text: str) -> str:
    """Returns the address as stores write it: `s3://bucket/prefix`, without a slash at the end."""
    match = ADDRESS.fullmatch(text)
    if match is None:
        raise UsageError(f"{text} is no address of an object store.", "Write it like s3://bucket/prefix.")
    return f"{match[1].lower()}://{match[2].rstrip('/')}"


def opened(address: str) -> ObjectStore:
    """Returns the store at an address; paths in it are relative to the address."""
    try:
        from obstore.exceptions import BaseError
        from obstore.store import from_url
    except ImportError as exc:
        raise UsageError("Object stores need the package obstore.", install_advice("stores")) from exc
    pauses = {"init_backoff": timedelta(seconds=0.2), "max_backoff": timedelta(seconds=15), "base": 2}
    retry = {"max_retries": MAX_TRIES, "backoff": pauses, "retry_timeout": timedelta(seconds=RETRY_S)}
    client = {"timeout": timedelta(seconds=REQUEST_S), "allow_http": _is_plain_http()}
    try:
        store: ObjectStore = from_url(address, retry_config=retry, client_options=client)  # type: ignore[call-overload]
    except (BaseError, ValueError) as exc:
        raise UsageError(f"{address} cannot be opened: {reason(exc)}.") from exc
    return store


@contextmanager
def object_errors(address: str, advice: str) -> Iterator[None]:
    """Turns what a store refuses into a StoreError. FileNotFoundError stays: an object that is not there."""
    from obstore.exceptions import BaseError, PermissionDeniedError, UnauthenticatedError

    try:
        yield
    except FileNotFoundError:
        raise
    except (PermissionDeniedError, UnauthenticatedError) as exc:
        words = f"{address} refuses access: {reason(exc)}."
        raise StoreError(words, "Check the credentials and the name.") from exc
    except (BaseError, OSError) as exc:
        raise StoreError(f"{address} cannot be reached: {reason(exc)}.", advice) from exc


def reason(exc: BaseException) -> str:
    return first_line(exc).rstrip(".")[:MAX_REASON_CHARS]


def _is_plain_http() -> bool:
    """Returns whether the user named a server without encryption, as on a network of their own."""
    return any(os.environ.get(name, "").startswith("http://") for name in ENDPOINTS)
