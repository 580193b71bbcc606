"""Scores one page: its pairs of text, formulas and tables, and its reading order."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from penstock_eval.metrics.tables import DEADLINE_S, teds_both
from penstock_eval.metrics.text import edit_distance, normalised_edit
from penstock_eval.omnidocbench.elements import INLINE, PredictedElement, predicted_elements
from penstock_eval.omnidocbench.matching import (
    LinePair,
    MatchLine,
    MatchRules,
    main_category,
    quick_match,
    simple_match,
)
from penstock_eval.omnidocbench.normalise import (
    cell_texts,
    formula_form,
    latex_as_text,
    table_form,
    text_form,
    words_only,
)
from penstock_eval.omnidocbench.protocols import (
    FORMULA_CATEGORY,
    IGNORED,
    TEXT_CATEGORIES,
    ProtocolVersion,
)
from penstock_eval.omnidocbench.truth import TrueElement, TruePage

FORMULA_KINDS = (INLINE, FORMULA_CATEGORY, "")
_ARRAY = re.compile(r"\\begin\{array\}\{(?P<spec>[^}]*)\}(?P<body>.*?)\\end\{array\}", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ScoredPair:
    """One pair with its scores. `edits` over `length` is the edit distance; `scores` has the rest."""

    truth: str
    prediction: str
    norm_truth: str
    norm_prediction: str
    edits: int
    length: int
    attributes: tuple[dict[str, str], ...] = ()
    scores: dict[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PageScore:
    """Everything about one page. `order` is the edit distance of the reading order, None without any."""

    image: str
    slices: tuple[str, ...]
    texts: tuple[ScoredPair, ...]
    formulas: tuple[ScoredPair, ...]
    tables: tuple[ScoredPair, ...]
    order: float | None
    true_order: tuple[float, ...] = ()
    found_order: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class MatchedPair:
    """A scored pair with its places and categories, as the benchmark looks them up."""

    scored: ScoredPair
    category: str
    kind: str
    places: tuple[float | str, ...]
    position: float | str


def score_page(
    page: TruePage, markdown: str, protocol: ProtocolVersion, table_deadline_s: float = DEADLINE_S
) -> PageScore:
    """Scores one page against its truth by a version of the protocol."""
    blocks = predicted_elements(markdown, protocol)
    tables, spare_cells = _tables(page, blocks, protocol, table_deadline_s)
    if protocol.joint:
        texts, formulas = _joint(page, blocks, spare_cells)
    else:
        texts, formulas = _apart(page, blocks)
    true_order, found_order = reading_orders(texts)
    moved = [_as_text(m) for m in formulas if m.kind not in FORMULA_KINDS] if protocol.joint else []
    kept = [m.scored for m in formulas if not protocol.joint or m.kind in FORMULA_KINDS]
    return PageScore(
        image=page.image,
        slices=page.slices,
        texts=tuple([m.scored for m in texts] + moved),
        formulas=tuple(kept),
        tables=tuple(m.scored for m in tables),
        order=order_edit(true_order, found_order),
        true_order=true_order,
        found_order=found_order,
    )


def _joint(
    page: TruePage, blocks: list[PredictedElement], cells: list[PredictedElement]
) -> tuple[list[MatchedPair], list[MatchedPair]]:
    """v1.5: matches text and formulas together, inline formulas after everything else."""
    truths = [part for element in page.texts_and_formulas for part in _split_array(element)]
    kinds = list(dict.fromkeys(block.kind for block in blocks if not block.kind.endswith("table")))
    given = [block for kind in kinds for block in blocks if block.kind == kind] + cells
    given = sorted(given, key=lambda block: (block.fine == INLINE, block.position))
    given = [part for block in given for part in _split_block(block)]
    matched = _match(truths, given, joint=True)
    texts = [m for m in matched if m.category in TEXT_CATEGORIES and m.category not in IGNORED]
    return texts, [m for m in matched if m.category == FORMULA_CATEGORY]


def _apart(page: TruePage, blocks: list[PredictedElement]) -> tuple[list[MatchedPair], list[MatchedPair]]:
    """v1.0: matches text with text and formulas with formulas; text without a truth counts."""
    texts: list[MatchedPair] = []
    if page.texts:
        texts = _match(page.texts, [b for b in blocks if b.kind == "text_all"], joint=False)
        texts = [m for m in texts if m.category not in IGNORED]
    formulas = page.of(FORMULA_CATEGORY)
    if not formulas:
        return texts, []
    matched = _match(formulas, [b for b in blocks if b.kind == FORMULA_CATEGORY], joint=False)
    return texts, [m for m in matched if m.category]


def _match(
    elements: Sequence[TrueElement], blocks: Sequence[PredictedElement], *, joint: bool
) -> list[MatchedPair]:
    truths = _kept([_true_line(element, joint) for element in elements])
    given = _kept([_block_line(block, joint) for block in blocks])
    return [
        _matched(pair, truths, given, elements, blocks)
        for pair in quick_match(truths, given, MatchRules(joint=joint))
    ]


def _matched(
    pair: LinePair,
    truths: list[MatchLine],
    given: list[MatchLine],
    elements: Sequence[TrueElement],
    blocks: Sequence[PredictedElement],
) -> MatchedPair:
    """Quirk: empty lines are dropped from the lines but not from the elements and blocks, so on pages with
    such lines places, attributes and kinds are those of another element."""
    mine, theirs = [truths[i] for i in pair.truths], [given[i] for i in pair.predictions]
    scored = score_pair(
        "".join(line.raw for line in mine),
        "".join(line.raw for line in theirs),
        "".join(line.norm for line in mine),
        "".join(line.norm for line in theirs),
        tuple(elements[i].attributes for i in pair.truths),
    )
    block = blocks[pair.predictions[0]] if pair.predictions else None
    return MatchedPair(
        scored=scored,
        category=main_category(mine),
        kind=block.category if block else "",
        places=tuple(elements[i].place for i in pair.truths),
        position=block.position if block else "",
    )


def score_pair(
    truth: str, prediction: str, norm_truth: str, norm_prediction: str, attributes: tuple[dict[str, str], ...]
) -> ScoredPair:
    """A side whose compared form is empty is compared as written."""
    first, second = norm_truth or truth, norm_prediction or prediction
    edits, length = edit_distance(first, second), max(len(first), len(second))
    return ScoredPair(truth, prediction, norm_truth, norm_prediction, edits, length, attributes)


def _as_text(matched: MatchedPair) -> ScoredPair:
    """A formula that was predicted as text is compared as text."""
    scored = matched.scored
    truth = latex_as_text(scored.truth)
    return score_pair(truth, scored.prediction, words_only(truth), scored.norm_prediction, scored.attributes)


def reading_orders(matched: list[MatchedPair]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Returns the true order of all text, and the true places in the order of their predictions."""
    true = sorted(place for m in matched for place in m.places if not isinstance(place, str))
    found = [m for m in matched if m.places and not isinstance(m.position, str)]
    found.sort(key=lambda m: float(m.position))
    return tuple(true), tuple(place for m in found for place in m.places if not isinstance(place, str))


def order_edit(true_order: Sequence[float], found_order: Sequence[float]) -> float | None:
    """Levenshtein distance over the longer order: 0 for the same order, None without any."""
    return normalised_edit(true_order, found_order) if true_order or found_order else None


def _tables(
    page: TruePage, blocks: list[PredictedElement], protocol: ProtocolVersion, deadline_s: float
) -> tuple[list[MatchedPair], list[PredictedElement]]:
    """Scored tables, and the cells of predicted tables that no true table took, as text."""
    truths = page.of("table")
    if not truths:
        return [], []
    html = [block for block in blocks if block.kind == "html_table"]
    latex = [block for block in blocks if block.kind == "latex_table"]
    given = latex if len(latex) > len(html) else html
    true_lines = _kept([MatchLine(e.html, e.html, "table", attributes=e.attributes) for e in truths])
    lines = _kept([MatchLine(block.content, block.content, block.category) for block in given])
    matched: list[MatchedPair] = []
    spare: list[PredictedElement] = []
    for pair in simple_match(true_lines, lines):
        if not pair.truths:
            spare = [_cell(given[i], text) for i in pair.predictions for text in cell_texts(given[i].content)]
            continue
        number = pair.truths[0]
        predicted = lines[pair.predictions[0]].raw if pair.predictions and given is html else ""
        scored = score_table(true_lines[number], predicted, table_form, deadline_s)
        # quirk: the first predicted table counts as having no place on the page
        position = given[pair.predictions[0]].position if pair.predictions and pair.predictions[0] else ""
        matched.append(MatchedPair(scored, "table", "", (truths[number].place,), position))
    return matched, spare if protocol.joint else []


def score_table(
    truth: MatchLine, predicted: str, form: Callable[[str], str] = table_form, deadline_s: float = DEADLINE_S
) -> ScoredPair:
    """Scores one table: edit distance of the normalised HTML, TEDS and TEDS-S."""
    norm_truth, norm_prediction = form(truth.raw), form(predicted)
    base = score_pair(truth.raw, predicted, norm_truth, norm_prediction, (truth.attributes,))
    score = teds_both(norm_prediction or predicted, norm_truth or truth.raw, deadline_s)
    return ScoredPair(
        base.truth,
        base.prediction,
        norm_truth,
        norm_prediction,
        base.edits,
        base.length,
        base.attributes,
        {"TEDS": score.teds, "TEDS_structure_only": score.structure},
        (score.note,) if score.note else (),
    )


def _cell(block: PredictedElement, text: str) -> PredictedElement:
    return PredictedElement("text_all", block.position, text, block.fine)


def _kept(lines: list[MatchLine]) -> list[MatchLine]:
    return [line for line in lines if line.raw and line.norm]


def _true_line(element: TrueElement, joint: bool) -> MatchLine:
    if element.category == FORMULA_CATEGORY:
        return MatchLine(element.latex, formula_form(element.latex, joint), element.category)
    return MatchLine(element.text, text_form(element.text), element.category)


def _block_line(block: PredictedElement, joint: bool) -> MatchLine:
    if block.kind == FORMULA_CATEGORY:
        return MatchLine(block.content, formula_form(block.content, joint), block.category)
    return MatchLine(block.content, text_form(block.content), block.category)


def _single_column(spec: str) -> bool:
    bare = re.sub(r"\s+|\|", "", spec)
    bare = re.sub(r"[@!]{[^}]*}", "", bare)
    return bare in ("l", "c", "r")


def _array_lines(latex: str) -> list[str] | None:
    """Returns the lines of a formula that is an array of one column; None for any other formula."""
    array = _ARRAY.search(latex)
    if array is None or not _single_column(array["spec"]):
        return None
    return [line.strip() for line in re.split(r"\\\\", array["body"]) if line.strip()]


def _split_array(element: TrueElement) -> list[TrueElement]:
    if element.category != FORMULA_CATEGORY:
        return [element]
    lines = _array_lines(element.latex)
    if lines is None:
        return [element]
    order = float(element.order or 0)
    return [
        TrueElement(
            element.category,
            round(order + number / 10, 1),
            latex=f"\\[{line}\\]",
            attributes=element.attributes,
        )
        for number, line in enumerate(lines, start=1)
    ]


def _split_block(block: PredictedElement) -> list[PredictedElement]:
    lines = _array_lines(block.content) if block.kind == FORMULA_CATEGORY else None
    if lines is None:
        return [block]
    parts: list[PredictedElement] = []
    array = _ARRAY.search(block.content)
    assert array is not None
    at = array.start("body")
    for line in lines:
        at = max(at, block.content.find(line, at))
        parts.append(PredictedElement(block.kind, block.position + at, f"\\[{line}\\]", block.fine))
        at += len(line)
    return parts
