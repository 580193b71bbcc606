"""Prints what a person should look at, and keeps what they typed: for `penstock review`."""

from __future__ import annotations

import getpass
import json
from pathlib import Path

from penstock.errors import UsageError
from penstock.exports.correct import correct, history, history_row
from penstock.exports.review import review
from penstock.store.out import Out


def show(out: Path, most: int, at: str | None, text: str | None, who: str | None, as_json: bool) -> None:
    if at is None and text is not None:
        raise UsageError("--text says what stands somewhere, and no place is named.", "Add --at LOCATOR.")
    if at is None:
        _list(Out(out), most, as_json)
    elif text is None:
        _print([history_row(one) for one in history(Out(out), at)], as_json, "There is no correction of it.")
    else:
        made = correct(Out(out), at, text, who=who or _login())
        _print([history_row(made)], as_json, "")


def _list(out: Out, most: int, as_json: bool) -> None:
    places = review(out, most)
    if as_json:
        print(json.dumps([place.row() for place in places], ensure_ascii=False))
        return
    for place in places:
        print(f"{place.locator}\n   {place.reason}")
        if place.text:
            print(f"   {' '.join(place.text.split())}")
    if not places:
        print("Nothing stands out.")


def _print(rows: list[dict[str, str]], as_json: bool, none: str) -> None:
    if as_json:
        print(json.dumps(rows, ensure_ascii=False))
        return
    for row in rows:
        print(f"{row['at']} {row['who']}: {row['before']!r} is {row['after']!r}")
    if not rows:
        print(none)


def _login() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return ""
