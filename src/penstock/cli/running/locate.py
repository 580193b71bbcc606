"""Prints what stands at an address of a run, for `penstock export --at`."""

from __future__ import annotations

import json
from pathlib import Path

from penstock.addresses.locator import Locator
from penstock.exports.located import locate
from penstock.store.out import Out


def show(out: Path, address: str, as_json: bool) -> None:
    """Prints its text; as JSON also its page, its box and how sure it is."""
    found = locate(Out(out), Locator.parse(address))
    print(json.dumps(found.row(), ensure_ascii=False) if as_json else found.text)
