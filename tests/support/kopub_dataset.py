"""A dataset of 30 pages in KoPub's schema: pictures drawn here, with questions about twelve of them."""

from __future__ import annotations

import io
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pypdfium2 as pdfium
from PIL import Image, ImageDraw, ImageFont

import penstock

SAMPLE = Path(penstock.__file__).parent / "sample" / "sample.pdf"
SUBJECTS = (
    "bread ovens and flour", "harbour cranes", "bicycle brakes", "honey bees in spring", "river ferries",
    "violin strings", "mountain railways", "paper mills", "street lamps", "apple orchards",
    "weather balloons", "glass blowing", "fishing nets", "school libraries", "clock towers",
    "coffee roasting", "desert wells", "ice skating", "printing presses", "rice terraces",
    "salt mines", "tea gardens", "underground trains", "volcano watching", "water wheels",
    "wooden bridges", "yellow taxis", "zoo keepers", "copper kettles",
)  # fmt: skip
TYPES = ("text", "visual", "cross")
DOMAINS = ("industry", "society")


def picture(subject: str, number: int) -> bytes:
    page = Image.new("RGB", (720, 300), "white")
    draw = ImageDraw.Draw(page)
    draw.text((40, 40), f"Report {number} on {subject}", fill="black", font=ImageFont.load_default(34))
    body = [f"This page is about {subject}.", f"It lists the costs of {subject} in the year {1990 + number}."]
    for line, text in enumerate(body):
        draw.text((40, 120 + 50 * line), text, fill="black", font=ImageFont.load_default(26))
    data = io.BytesIO()
    page.save(data, "PNG")
    return data.getvalue()


def sample_page() -> bytes:
    """The sample's first page as a picture: it has a chart, so there is a crop."""
    page = pdfium.PdfDocument(SAMPLE)[0].render(scale=1.5).to_pil()
    data = io.BytesIO()
    page.convert("RGB").save(data, "JPEG", quality=92)
    return data.getvalue()


def write_dataset(folder: Path) -> Path:
    """Two corpus shards and a table of twelve questions; page 29 is a copy of page 7."""
    pictures = [picture(subject, number) for number, subject in enumerate(SUBJECTS)]
    pictures[28] = sample_page()
    pictures.append(pictures[7])
    corpus = folder / "SDS-KoPub-corpus"
    corpus.mkdir(parents=True)
    for shard in range(2):
        rows = range(15 * shard, 15 * shard + 15)
        table = {
            "id": [f"doc_{row // 10}_page_{row % 10}" for row in rows],
            "image": [{"bytes": pictures[row], "path": None} for row in rows],
            "text": ["" for _ in rows],
            "ocr": ["" for _ in rows],
        }
        pq.write_table(pa.table(table), corpus / f"test-{shard:05d}-of-00002.parquet")
    asked = [2 * number for number in range(11)] + [7]
    questions = {
        "query": [f"What are the costs of {SUBJECTS[row]}?" for row in asked],
        "answer": [f"They are listed for {1990 + row}." for row in asked],
        "type": [TYPES[row % 3] for row in asked],
        "domain": [DOMAINS[row % 2] for row in asked],
        "ground_truth": [[row] for row in asked],
    }
    (folder / "SDS-KoPub-QA").mkdir()
    pq.write_table(pa.table(questions), folder / "SDS-KoPub-QA" / "test-00000-of-00001.parquet")
    return folder
