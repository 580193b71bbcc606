"""Puts right what was read: a text typed at an address becomes a row of its own, and every export uses it.

correct(Out("out"), "penstock:report.pdf/p3/r7/c1.2", "1,200", who="kim")
"""

from __future__ import annotations

import time
from datetime import UTC, datetime

from penstock.addresses.locator import Locator
from penstock.documents.pages.corrected import text_at
from penstock.errors import UsageError
from penstock.exports.located import locate
from penstock.page import Page
from penstock.store.corrections import Correction
from penstock.store.out import Out

MAX_TEXT = 100_000  # characters of what is typed
MAX_WHO = 200
WHAT = "A region, a line or a cell can be corrected: penstock:report.pdf/p3/r7, …/r7/l2, …/r7/c1.0."


def correct(
    out: Out, locator: str | Locator, text: str, *, who: str = "", before: str | None = None
) -> Correction:
    """Keeps `text` as what stands there. Returns the correction, which is on the disk then.

    With `before`, what its writer saw, it is refused where someone else was faster. Raises UsageError.
    """
    at = Locator.parse(locator) if isinstance(locator, str) else locator
    locate(out, at)  # says what there is, where this is not
    if at.page is None or at.region is None:
        raise UsageError(f"{at} is a whole document, page or chunk.", WHAT)
    entry = next(one for one in out.entries() if (one.document, one.part + 1) == (at.document, at.page))
    page = out.pages.item(entry)
    return keep(out, page, at, text, who=who, before=before)


def keep(out: Out, page: Page, at: Locator, text: str, *, who: str, before: str | None) -> Correction:
    """Keeps `text` at a place of this page, as it is read with its corrections."""
    region = next((one for one in page.regions if one.index == at.region), None)
    said = text_at(region, at.line, at.cell) if region is not None else None
    if region is None or said is None:
        raise UsageError(f"Nothing that can be corrected stands at {at}.", WHAT)
    _check(at, text, said, before)
    row, column = at.cell or (None, None)
    correction = Correction(
        document=page.document, part=page.part, page_id=page.id, region=region.index, line=at.line, row=row,
        column=column, box=region.box, before=said, after=text, who=who[:MAX_WHO], at=time.time_ns(),
    )  # fmt: skip
    out.corrections.add(correction)
    return correction


def history(out: Out, locator: str | Locator) -> list[Correction]:
    """Returns the corrections at an address and below it, oldest first."""
    at = Locator.parse(locator) if isinstance(locator, str) else locator
    whole = str(at)
    return [
        one
        for one in out.corrections.all()
        if str(one.locator) == whole or str(one.locator).startswith(f"{whole}/")
    ]


def history_row(one: Correction) -> dict[str, str]:
    """Returns a correction as JSON has it."""
    at = datetime.fromtimestamp(one.at / 1e9, UTC).isoformat(timespec="seconds")
    return {"locator": str(one.locator), "who": one.who, "before": one.before, "after": one.after, "at": at}


def _check(at: Locator, text: str, said: str, before: str | None) -> None:
    if before is not None and before != said:
        raise UsageError(f"{at} says something else by now: {said[:80]!r}.", "Look at it again.")
    if text == said:
        raise UsageError(f"{at} says that already.", "Nothing is kept.")
    if len(text) > MAX_TEXT:
        raise UsageError(f"The text has {len(text)} characters; {MAX_TEXT} at most are kept.")
