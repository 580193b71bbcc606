"""What of a run a person should look at, and what they put right."""

from __future__ import annotations

from pathlib import Path

from penstock.addresses.locator import Locator
from penstock.converted.python_terms import in_python_terms
from penstock.exports import correct as corrections
from penstock.exports import review as places
from penstock.exports.review import MOST, ReviewPlace
from penstock.store.corrections import Correction
from penstock.store.out import Out


@in_python_terms()
def review(out: str | Path, *, top: int = MOST) -> list[ReviewPlace]:
    """Returns the places of a run that a person should look at, worst first.

    for place in penstock.review("out"):
        print(place.locator, place.reason)
    """
    return places.review(Out(out), top)


@in_python_terms()
def correct(
    out: str | Path, locator: str | Locator, text: str, *, who: str = "", before: str | None = None
) -> Correction:
    """Keeps `text` as what stands at a region, a line or a cell. Later runs and exports use it.

    With `before` it is refused where the place says something else by now.

    penstock.correct("out", "penstock:report.pdf/p3/r7/c1.0", "1,200", who="kim")
    """
    return corrections.correct(Out(out), locator, text, who=who, before=before)
