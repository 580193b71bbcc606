"""Fits and measures the weights by which lines of Korean are joined with a space or without.

    python tools/korean_spacing.py fit WEIGHTS TEXT.txt[:TIMES] ...    (needs torch; ten minutes)
    python tools/korean_spacing.py measure TEXT.txt ... [--kiwi]       (joins at random places of each text)

A text has one sentence a line, spaces as they should be, marks of Markdown and code taken out. The weights
in the package were fitted to Korean statutes (free of copyright) and a book on Rust (MIT or Apache-2.0), both
twice, and the Korean documentation of Kubernetes, React, Vue (CC BY 4.0, by their contributors) and Python
(PSF), 2.3 million gaps in all. Of Python only gaps between two syllables count: markup leaves spaces before
particles there. A text whose name ends in `-syllables` is read so. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from penstock.documents.text.korean_spacing import SCALE, log_odds, places
from penstock.scripts import is_syllable

NUM_WEIGHTS = 1 << 17
BATCH, EPOCHS, RATE, SEED = 8192, 4, 0.15, 1
MIN_SENTENCE = 40  # letters, to be measured
EDGE = 10  # letters: no join is made nearer to a sentence's ends

Gap = tuple[str, str, bool]


def gaps(sentence: str, only_syllables: bool = False) -> Iterator[Gap]:
    """Yields what stands before and after each gap beside a syllable, and whether the gap is a space."""
    for place in range(1, len(sentence)):
        if sentence[place - 1] == " ":
            continue
        spaced = sentence[place] == " "
        before, after = sentence[:place], sentence[place + spaced :]
        beside = [bool(after) and is_syllable(after[0]), is_syllable(before[-1])]
        if after and (all(beside) if only_syllables else any(beside)):
            yield before[-4:], after[:4], spaced


def fit(target: Path, texts: list[str]) -> dict[str, Any]:
    import numpy as np
    import torch

    rows, spaced, times = [], [], []
    for name in texts:
        path, _, often = name.partition(":")
        only_syllables = Path(path).stem.endswith("-syllables")
        for sentence in Path(path).read_text(encoding="utf-8").splitlines():
            for before, after, is_space in gaps(sentence, only_syllables):
                rows.append(places(before, after, NUM_WEIGHTS))
                spaced.append(float(is_space))
                times.append(float(often or 1))
    x, y, often_ = torch.tensor(np.array(rows, dtype=np.int32)), torch.tensor(spaced), torch.tensor(times)
    torch.manual_seed(SEED)
    weights = torch.nn.EmbeddingBag(NUM_WEIGHTS, 1, mode="sum")
    torch.nn.init.zeros_(weights.weight)
    optimiser = torch.optim.Adagrad(weights.parameters(), lr=RATE)
    for _ in range(EPOCHS):
        for batch in torch.randperm(len(y)).split(BATCH):
            losses = torch.nn.functional.binary_cross_entropy_with_logits(
                weights(x[batch].long())[:, 0], y[batch], reduction="none"
            )
            optimiser.zero_grad()
            (losses * often_[batch]).mean().backward()
            optimiser.step()
    rounded = (weights.weight.detach()[:, 0].numpy() * SCALE).round().clip(-127, 127).astype(np.int8)
    target.write_bytes(rounded.tobytes())
    return {"gaps": len(y), "spaces": round(float(y.mean()), 3), "bytes": rounded.nbytes}


def joins(path: Path, count: int) -> list[Gap]:
    """One join between two syllables at a random place of each of `count` long sentences."""
    rng = random.Random(SEED)
    sentences = [s for s in path.read_text(encoding="utf-8").splitlines() if len(s) >= MIN_SENTENCE]
    rng.shuffle(sentences)
    found: list[Gap] = []
    for sentence in sentences[:count]:
        ends = range(EDGE, len(sentence) - EDGE)
        open_places = [p for p in ends if sentence[p - 1] != " " and is_syllable(sentence[p - 1])]
        fit_places = [p for p in open_places if is_syllable(sentence[p:].lstrip()[0])]
        if fit_places:
            place = rng.choice(fit_places)
            spaced = sentence[place] == " "
            found.append((sentence[:place], sentence[place + spaced :], spaced))
    return found


def measure(texts: list[str], count: int, with_kiwi: bool) -> dict[str, Any]:
    kiwi = _kiwi() if with_kiwi else None
    found: dict[str, Any] = {}
    for name in texts:
        made = joins(Path(name), count)
        row = {"joins": len(made), "ours": _share([log_odds(a, b) > 0 for a, b, _ in made], made)}
        if kiwi is not None:
            glued = [kiwi.glue([a, b], return_space_insertions=True)[1][0] for a, b, _ in made]
            row["kiwi"] = _share(glued, made)
        found[Path(name).stem] = row
        print(Path(name).stem, row, flush=True)
    return found


def _share(said: list[bool], made: list[Gap]) -> float:
    return round(sum(a == b for a, (_, _, b) in zip(said, made, strict=True)) / max(1, len(made)), 4)


def _kiwi() -> Any:
    from kiwipiepy import Kiwi

    return Kiwi(num_workers=1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("fit", "measure"))
    parser.add_argument("files", nargs="+")
    parser.add_argument("--kiwi", action="store_true")
    parser.add_argument("--count", type=int, default=1000)
    given = parser.parse_args()
    if given.what == "fit":
        done = fit(Path(given.files[0]), given.files[1:])
    else:
        done = measure(given.files, given.count, given.kiwi)
    print(json.dumps({"benchmark": "korean_spacing", **done}))


if __name__ == "__main__":
    main()
