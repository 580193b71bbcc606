"""The card of a run on the Hub: what it holds, how it was made, how well and how fast."""

from __future__ import annotations

import json
from typing import Any

from penstock.passes.hub.front_matter import front_matter, licence_sentence
from penstock.retrieval import vectors
from penstock.retrieval.to_embed import page_entries
from penstock.store.out import Out
from penstock.trace.phrases import plural


def card(
    out: Out,
    dataset: str = "",
    revision: str = "",
    scores: dict[str, dict[str, str]] | None = None,
    licence: str = "",
) -> str:
    """Returns README.md for OUT, with figures from run.json, profile.json and the vectors.

    `licence` is an identifier as the Hub has them; without it the sources' own apply.
    """
    run = out.run()
    entries = page_entries(out)
    failed = sum(entry.failed for entry in entries)
    title = f"# {plural(len(entries), 'page')}, read and embedded"
    lines = [*front_matter(out, len(entries), licence), title]
    if dataset:
        lines.append(f"\nMade from `{dataset}`" + (f" at `{revision}`." if revision else "."))
    lines.append(f"\n{len(entries) - failed} pages were read, {failed} could not be; their rows say why.")
    lines += ["\n## How", _recipe(run), *_speed(out), *_files(out)]
    if scores:
        lines += ["\n## Retrieval", *_table(scores)]
    lines += ["\n## Licence", licence_sentence(licence)]
    return "\n".join(lines) + "\n"


def _recipe(run: dict[str, Any]) -> str:
    versions = run.get("versions", {})
    stages = " > ".join(str(row["stage"]) for row in run.get("plan", []))
    return f"Penstock {versions.get('penstock', '')}, recipe `{run.get('recipe', '')}`: {stages}."


def _speed(out: Out) -> list[str]:
    path = out / "profile.json"
    if not path.is_file():
        return []
    profile = json.loads(path.read_text("utf-8"))
    items, seconds = profile.get("items", 0), profile.get("seconds", 0.0)
    rate = f"{items / seconds:.2f} pages/s" if seconds else ""
    where = profile.get("hardware", {})
    gpus = ", ".join(where.get("gpus", [])) or "no GPU"
    return [f"Last run: {items} pages in {seconds:.0f} s ({rate}), {where.get('cores', '?')} cores, {gpus}."]


def _files(out: Out) -> list[str]:
    lines = ["\n## Files", "- `ocr_results.jsonl`: regions, Markdown, boxes and labels, one page a line"]
    lines.append("- `parsed_texts.jsonl`: the text that was embedded")
    for name in (*vectors.ROWS_OF, vectors.QUERIES):
        table = vectors.read(out, name)
        if table is not None:
            rows, width = table.array.shape
            lines.append(f"- `embeddings/{name}.npy`: {rows} x {width}, {table.array.dtype}, with its ids")
    return lines


def _table(scores: dict[str, dict[str, str]]) -> list[str]:
    names = list(next(iter(scores.values())))
    head = [f"| source | {' | '.join(names)} |", "|---" * (len(names) + 1) + "|"]
    return head + [f"| {source} | {' | '.join(values.values())} |" for source, values in scores.items()]
