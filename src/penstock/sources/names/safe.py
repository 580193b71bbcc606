"""Makes file names that every system accepts, from names that come from anywhere."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from pathlib import PurePosixPath

MAX_BYTES = 120  # most systems end at 255 bytes a name, and a Hangul syllable is three
MAX_NAME_BYTES = 255  # of what was made elsewhere
_FORBIDDEN = re.compile(r'[<>:"/\\|?*\x00-\x1f\x7f\u200b-\u200f\u202a-\u202e\ufeff]+')
_DEVICES = re.compile(r"^(con|prn|aux|nul|com\d|lpt\d)(\.|$)", re.IGNORECASE)


def safe_name(name: str) -> str:
    """Returns one path component: NFC, letters of any script, nothing that Windows refuses, never empty."""
    clean = _FORBIDDEN.sub("_", unicodedata.normalize("NFC", name)).strip(" .")
    if not clean:
        clean = "unnamed"
    if _DEVICES.match(clean):
        clean = f"_{clean}"
    if len(clean.encode()) <= MAX_BYTES:
        return clean
    # two long names with the same beginning must stay two files
    digest = hashlib.sha256(name.encode("utf-8", "surrogateescape")).hexdigest()[:8]
    return clean.encode()[: MAX_BYTES - 9].decode(errors="ignore").strip(" .") + "-" + digest


def is_safe_name(name: str) -> bool:
    """Whether every system takes a path component as it is: no `..`, no device, nothing that is forbidden."""
    is_odd = _FORBIDDEN.search(name) or _DEVICES.match(name) or name != name.rstrip(" .")
    return bool(name) and not is_odd and len(name.encode("utf-8", "replace")) <= MAX_NAME_BYTES


def safe_path(path: str) -> PurePosixPath:
    """Returns a relative path of safe components, without `..` and a leading slash."""
    parts = [part for part in PurePosixPath(path.replace("\\", "/")).parts if part not in {"/", "..", "."}]
    return PurePosixPath(*(safe_name(part) for part in parts)) if parts else PurePosixPath("unnamed")
