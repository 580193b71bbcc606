"""What a run writes below OUT, by name: what is not here was made by somebody else."""

from __future__ import annotations

CORRECTIONS = "corrections"  # what people typed: a run that starts over keeps it
FILES = (
    "run.json", "documents.jsonl", "ocr_results.jsonl", "parsed_texts.jsonl", "chunks.jsonl",
    "corpus.jsonl",
    "profile.json", "profile.html", "trace.jsonl", "objects.jsonl", "report.html", "given.json",
)  # fmt: skip
FOLDERS = (
    "items", "failures", "damaged", "crops", "raw", "embed", "embeddings", "enrich", "extracted",
    "index", "markdown", "markdown_joined", "overlays", "searchable", "docjson", "docling", "content_list",
    "html", "glm", "masks", "clouds", "splats", "meshes", "turntables", "unfinished", "retrieval", "uploads",
    "jobs", "ranks", CORRECTIONS,
)  # fmt: skip
OURS = (*FILES, *FOLDERS)
