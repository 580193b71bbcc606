"""What a search takes and gives: filters, weights of sources, hits. Light: a short command imports it.

Sources: `text` and `image` (page vectors), `region` (vectors of charts, tables and pictures), `bm25` (words
of pages), `region_bm25` (words of regions) and `chunk_bm25` (words of chunks, with the titles they stand
under and the keywords of pass 2).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from penstock.errors import UsageError
from penstock.region import LABELS, shortened
from penstock.stage import secret

if TYPE_CHECKING:
    from penstock.sources.page_range import PageRange

PAGES, REGIONS, CHUNKS = "pages", "regions", "chunks"
# of each source the table it ranks and the column it looks into
SOURCES = {
    "text": (PAGES, "text_vector"),
    "image": (PAGES, "image_vector"),
    "region": (REGIONS, "vector"),
    "bm25": (PAGES, "words"),
    "region_bm25": (REGIONS, "words"),
    "chunk_bm25": (CHUNKS, "words"),
}
WEIGHTS = dict.fromkeys(SOURCES, 1.0)
# where every paragraph has its own vector, that of the whole page adds little: the right page came first
# for 8 of our 10 questions with 0.5, for 9 with 0.25 or 0.1
PARAGRAPH_WEIGHTS = {"text": 0.25}
# of each table what a hit shows
SHOWN = {
    PAGES: ["document", "page", "text"],
    REGIONS: ["document", "page", "text", "section", "index", "label", "box", "crop"],
}
SHOWN[CHUNKS] = [*SHOWN[REGIONS], "pages", "page_ids"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """Only these documents, pages, labels of regions, words of a section; empty means all.

    `where` are conditions on what people say of their documents: "client=Acme" (retrieval/metadata.py).
    """

    documents: tuple[str, ...] = ()
    pages: PageRange | None = None
    labels: tuple[str, ...] = ()
    sections: tuple[str, ...] = ()
    where: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        unknown = sorted(set(self.labels) - set(LABELS))
        if unknown:
            raise UsageError(f"There is no label {unknown[0]!r}.", f"Choose from: {', '.join(LABELS)}.")

    @property
    def of_parts(self) -> bool:
        """Whether whole pages cannot pass: labels and sections belong to what stands on them."""
        return bool(self.labels or self.sections)

    def has_page(self, page: int) -> bool:
        return self.pages is None or page in self.pages


NO_FILTERS = Filters()


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One page that was found, with the region or chunk that answers best and each source's rank and score.

    `section` is the path of titles it stands under, `pages` are those of a chunk, and `locator` is the
    address of the region, or of the page where the answer is no single region.
    """

    page_id: str
    document: str
    page: int
    score: float
    snippet: str
    sources: Mapping[str, tuple[int, float]] = field(default_factory=dict)
    section: str = ""
    pages: tuple[int, ...] = ()
    region: int | None = None
    label: str | None = None
    box: tuple[int, ...] | None = None
    crop: str | None = None
    locator: str = ""
    out: str = ""  # the run that holds it, where several were searched
    text: str = field(default="", repr=False)  # all that the region, chunk or page says

    def row(self) -> dict[str, Any]:
        """Returns it as JSON has it, without its whole text."""
        return {name: value for name, value in asdict(self).items() if name != "text"}

    def __repr__(self) -> str:
        label = f" {self.label}" if self.label else ""
        place = f"{self.document!r} page {self.page}{label}"
        return f"<Hit {self.score:.3g} {place}: {shortened(self.snippet, 60)}>"


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOptions:
    """How to search. `weights` are of sources: text, image, region, bm25, region_bm25, chunk_bm25.

    `rerank` is the address of a server that puts the best hits in order.
    """

    top: int = 10
    filters: Filters = NO_FILTERS
    weights: Mapping[str, float] = field(default_factory=dict)
    api_key: str | None = secret()
    rerank: str = ""
    rerank_model: str = ""
    rerank_key: str | None = secret()


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """The best pages. `is_stale`: OUT was embedded again after indexing, so only words were compared.

    `documents` are those of the index, where nothing was found in the ones that were named.
    """

    hits: list[Hit]
    is_stale: bool
    documents: list[str]


def checked_question(question: str) -> None:
    if not question.strip():
        raise UsageError("The question is empty.")


def checked_weights(weights: Mapping[str, float]) -> Mapping[str, float]:
    for name, value in weights.items():
        if name not in SOURCES:
            raise UsageError(f"There is no source {name!r}.", f"Choose from: {', '.join(SOURCES)}.")
        if not (math.isfinite(value) and value >= 0):
            raise UsageError(f"The weight of {name} is {value:g}.", "Weights are numbers from 0 up.")
    return weights


def compares_vectors(weights: Mapping[str, float]) -> bool:
    """Returns whether a question needs a vector with these weights."""
    return any(weights.get(name, 1.0) > 0 for name, (_, column) in SOURCES.items() if column != "words")
