"""Measures how far a text is from the truth: edit distance, CER, WER, NID, ANLS, BLEU, Korean spacing.

Distances count what is wrong (0 is perfect); similarities (`nid`, `anls`, `bleu`) count what is right.
Rates over many pairs are pooled: all edits over all reference units, as jiwer does.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Hashable, Sequence

from rapidfuzz import fuzz, process
from rapidfuzz.distance import Levenshtein

ANLS_THRESHOLD = 0.5  # DocVQA, Biten et al. 2019: at a similarity below this an answer is wrong, not close
MIN_PAIRS_FOR_THREADS = 64  # from here on threads are worth their start
NEAR_EDITS = 31  # tried first, in a narrow band; changes the speed only

_SPACES = re.compile(r"\s+")
_SPACE_RUN = re.compile(r"\s\s+")


def edit_distance(truth: Sequence[Hashable], predicted: Sequence[Hashable]) -> int:
    """Levenshtein distance: insertions, deletions and substitutions cost 1."""
    return Levenshtein.distance(truth, predicted)


def normalised_edit(truth: Sequence[Hashable], predicted: Sequence[Hashable]) -> float:
    """Levenshtein distance over the longer length; two empty sequences are equal."""
    longer = max(len(truth), len(predicted))
    return Levenshtein.distance(truth, predicted) / longer if longer else 0.0


def character_error_rate(truths: Sequence[str], predictions: Sequence[str]) -> float:
    """Pooled CER over pairs, as `jiwer.cer`: ends stripped, every other character counts."""
    stripped = [(truth.strip(), predicted.strip()) for truth, predicted in _paired(truths, predictions)]
    return _rate(_edits(stripped), sum(len(truth) for truth, _ in stripped))


def word_error_rate(truths: Sequence[str], predictions: Sequence[str]) -> float:
    """Pooled WER over pairs, as `jiwer.wer`: runs of white space become one space, words split there."""
    split = [(_words(truth), _words(predicted)) for truth, predicted in _paired(truths, predictions)]
    edits = sum(Levenshtein.distance(truth, predicted) for truth, predicted in split)
    return _rate(edits, sum(len(truth) for truth, _ in split))


def nid(truth: str, predicted: str) -> float:
    """Normalised indel similarity of whitespace-collapsed texts (Upstage DP-Bench), 0 to 1."""
    return fuzz.ratio(collapse_spaces(truth), collapse_spaces(predicted)) / 100.0


def collapse_spaces(text: str) -> str:
    """One space for every run of white space, none at the ends."""
    return _SPACES.sub(" ", text).strip()


def anls(answers: Sequence[str], predicted: str, threshold: float = ANLS_THRESHOLD) -> float:
    """DocVQA's answer score: the best similarity to any accepted answer, 0 when under the threshold.

    Case and outer spaces are ignored, inner spaces count.
    """
    given = predicted.strip().lower()
    best = max((1.0 - normalised_edit(answer.strip().lower(), given) for answer in answers), default=0.0)
    return best if best >= threshold else 0.0


def anls_fields(truth: dict[str, str], predicted: dict[str, str]) -> float:
    """Nanonets' key-information variant: no threshold, case counts, mean over the truth's fields."""
    if not truth:
        return 1.0 if not predicted else 0.0
    return sum(1.0 - normalised_edit(value, predicted.get(key, "")) for key, value in truth.items()) / len(
        truth
    )


def korean_error_rates(truths: Sequence[str], predictions: Sequence[str]) -> dict[str, float]:
    """Returns CER with word spaces, CER without them, and the share of gaps that are spaced wrongly.

    The official document scores drop all spaces, so 띄어쓰기 errors are invisible to them. Texts are
    NFC (a decomposed syllable is the same syllable) and white space is collapsed first.
    """
    pairs = [(_composed(truth), _composed(predicted)) for truth, predicted in _paired(truths, predictions)]
    with_spaces = _edits(pairs)
    closed = [(truth.replace(" ", ""), predicted.replace(" ", "")) for truth, predicted in pairs]
    without = _edits(closed)
    wrong = [spacing_errors(truth, predicted) for truth, predicted in pairs]
    return {
        "cer": _rate(with_spaces, sum(len(truth) for truth, _ in pairs)),
        "cer_without_spaces": _rate(without, sum(len(truth) for truth, _ in closed)),
        "spacing_error_rate": _rate(sum(w for w, _ in wrong), sum(n for _, n in wrong)),
    }


def spacing_errors(truth: str, predicted: str) -> tuple[int, int]:
    """Returns (gaps spaced wrongly, gaps compared), over letters that both texts have side by side.

    Only letters that align as equal count: a misread letter is an error of CER, not of spacing.
    """
    true_letters, true_gaps = _letters_and_gaps(truth)
    letters, gaps = _letters_and_gaps(predicted)
    wrong = compared = 0
    for op in Levenshtein.opcodes(true_letters, letters):
        if op.tag != "equal":
            continue
        for offset in range(op.src_end - op.src_start - 1):
            compared += 1
            wrong += true_gaps[op.src_start + offset] != gaps[op.dest_start + offset]
    return wrong, compared


def bleu(truths: Sequence[str], predictions: Sequence[str], max_order: int = 4) -> float:
    """Corpus BLEU (Papineni 2002), mteval-13a tokens, one reference a prediction, no smoothing."""
    matches, totals = [0] * max_order, [0] * max_order
    true_length = length = 0
    for truth, predicted in _paired(truths, predictions):
        reference, given = tokens_13a(truth), tokens_13a(predicted)
        true_length += len(reference)
        length += len(given)
        for order in range(1, max_order + 1):
            counts = _ngrams(given, order)
            matches[order - 1] += (counts & _ngrams(reference, order)).total()
            totals[order - 1] += counts.total()
    if length == 0 or not all(matches):
        return 0.0
    log_precision = sum(math.log(m / t) for m, t in zip(matches, totals, strict=True)) / max_order
    brevity = 1.0 if length > true_length else math.exp(1 - true_length / length)
    return brevity * math.exp(log_precision)


def tokens_13a(text: str) -> list[str]:
    """The tokens of NIST's mteval script, version 13a: punctuation stands alone, decimals stay whole."""
    line = text.replace("<skipped>", "").replace("-\n", "").replace("\n", " ")
    for entity, character in (("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">")):
        line = line.replace(entity, character)
    line = re.sub(r"([{-~\[-` -&(-+:-@/])", r" \1 ", f" {line} ")
    line = re.sub(r"([^0-9])([.,])", r"\1 \2 ", line)
    line = re.sub(r"([.,])([^0-9])", r" \1 \2", line)
    line = re.sub(r"([0-9])(-)", r"\1 \2 ", line)
    return line.split()


def _ngrams(tokens: list[str], order: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(tokens[i : i + order]) for i in range(len(tokens) - order + 1))


def _words(text: str) -> list[str]:
    return [word for word in _SPACE_RUN.sub(" ", text).strip().split(" ") if word]


def _composed(text: str) -> str:
    return collapse_spaces(unicodedata.normalize("NFC", text))


def _letters_and_gaps(text: str) -> tuple[str, list[bool]]:
    """Returns the text without spaces, and for each letter whether a space follows it."""
    letters: list[str] = []
    gaps: list[bool] = []
    for character in text:
        if character.isspace():
            if gaps:
                gaps[-1] = True
        else:
            letters.append(character)
            gaps.append(False)
    return "".join(letters), gaps


def _paired(truths: Sequence[str], predictions: Sequence[str]) -> list[tuple[str, str]]:
    return list(zip(truths, predictions, strict=True))


def _edits(pairs: Sequence[tuple[str, str]]) -> int:
    """Sums the edits of all pairs, on every core if there are many."""
    if len(pairs) < MIN_PAIRS_FOR_THREADS:
        return sum(Levenshtein.distance(truth, predicted) for truth, predicted in pairs)
    truths, predictions = [truth for truth, _ in pairs], [predicted for _, predicted in pairs]
    found = process.cpdist(
        truths, predictions, scorer=Levenshtein.distance, score_hint=NEAR_EDITS, workers=-1
    )
    return int(found.sum(dtype="int64"))


def _rate(edits: int, units: int) -> float:
    if units == 0:
        return 0.0 if edits == 0 else 1.0
    return edits / units
