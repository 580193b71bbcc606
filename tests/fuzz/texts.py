"""Parsers that read strangers' words in the run's own process: servers' answers, files people hand on."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

import numpy as np

from penstock.documents.docjson import file as docjson
from penstock.documents.docjson.assemble import assemble
from penstock.documents.docjson.table import read_table
from penstock.documents.formats.glm_content import formatted
from penstock.documents.grounding.answer import read_grounded
from penstock.documents.tables.html import from_loose_html
from penstock.engines.chat.errors import RequestRefused, understand
from penstock.engines.chat.wire import StreamReader, read_whole
from penstock.errors import PenstockError
from penstock.page import Page
from penstock.photos.gaussians import Gaussians
from penstock.photos.ply import read_ply, write_ply
from penstock.region import Region
from penstock.sources.queries import read_queries
from penstock.store.source_order import DOCUMENTS, read_order
from penstock.trace import vllm_metrics
from tests.support.grounded_answers import DIALECTS, answers

MAX_BYTES = 40_000
MAX_S = 10  # for one case: longer is a hang
ALLOWED = (PenstockError, RequestRefused)  # each has a sentence for people


@dataclass(frozen=True)
class TextTarget:
    """A parser and bytes that it reads well."""

    name: str
    read: Callable[[bytes], object]
    seeds: Sequence[bytes]


def targets(folder: Path) -> list[TextTarget]:
    """`folder` is for parsers that want a file."""
    grounded = [text.encode() for dialect in DIALECTS for text in answers(dialect).values()]
    return [
        TextTarget("grounded answer", lambda data: read_grounded(_text(data), 1700, 2200), grounded),
        TextTarget("answer", read_whole, [ANSWER]),
        TextTarget("streamed answer", _streamed, [STREAM]),
        TextTarget("refusal", lambda data: understand(400, data, "5"), REFUSALS),
        TextTarget("metrics", vllm_metrics.read, [METRICS]),
        TextTarget("table", lambda data: (read_table(_text(data)), from_loose_html(_text(data))), TABLES),
        TextTarget("region's text", lambda data: formatted(_text(data), "text", "text"), TABLES),
        TextTarget("DocJSON", _by_file(folder / "a.docjson.json", docjson.read), [_docjson()]),
        TextTarget(
            "documents.jsonl", _by_file(folder / DOCUMENTS, lambda path: read_order(path.parent)), [ORDER]
        ),
        TextTarget("questions", _by_file(folder / "queries.jsonl", read_queries), QUESTIONS),
        TextTarget("cloud", read_ply, [_cloud()]),
    ]


def tried(target: TextTarget, data: bytes) -> float:
    """Reads one case. Returns its CPU seconds; raises what no parser may raise, TimeoutError for a hang."""
    signal.signal(signal.SIGALRM, _hangs)
    signal.alarm(MAX_S)
    began = time.thread_time()
    try:
        target.read(data)
    except ALLOWED:
        pass
    finally:
        signal.alarm(0)
    return time.thread_time() - began


def _hangs(_: int, __: FrameType | None) -> None:
    raise TimeoutError(f"a case took longer than {MAX_S} s")


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _streamed(data: bytes) -> object:
    """In pieces, as a network brings them."""
    reader = StreamReader(watch=None)
    for start in range(0, len(data), 37):
        reader.feed(data[start : start + 37])
    return reader.reply


def _by_file(path: Path, read: Callable[[Path], object]) -> Callable[[bytes], object]:
    def written(data: bytes) -> object:
        path.write_bytes(data)
        return read(path)

    return written


def _docjson() -> bytes:
    """The sample's words as a document of one page, by the program itself."""
    regions = (Region(index=0, label="text", box=(10, 10, 90, 40), content="words of a page"),)
    page = Page(id="a/00000", uri="a.pdf", document="a.pdf", width=100, height=100, regions=regions)
    return assemble("a.pdf", [page]).model_dump_json(exclude_defaults=True).encode()


def _cloud() -> bytes:
    chance = np.random.default_rng(0)
    place = chance.normal(size=(20, 3)).astype(np.float32)
    turn = np.tile(np.array([1, 0, 0, 0], np.float32), (20, 1))
    return write_ply(
        Gaussians(place, np.full((20, 3), 0.01, np.float32), np.ones(20, np.float32), place, turn)
    )


ANSWER = json.dumps(
    {
        "id": "chatcmpl-1",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "물길 and words"},
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 812, "completion_tokens": 31},
    }
).encode()
STREAM = (
    b"".join(
        b"data: "
        + json.dumps({"choices": [{"delta": {"content": word}, "finish_reason": None}]}).encode()
        + b"\n\n"
        for word in ("물", "길 ", "and", " words")
    )
    + b'data: {"choices":[],"usage":{"prompt_tokens":8,"completion_tokens":4}}\n\ndata: [DONE]\n\n'
)
REFUSALS = [
    b'{"error":{"message":"The maximum context length is 2048 tokens.","type":"BadRequestError","code":400}}',
    b'{"object":"error","message":"The model `x` does not exist.","code":404}',
    b'{"detail":[{"loc":["body"],"msg":"field required"}]}',
    b"<html><body>502 Bad Gateway</body></html>",
]
METRICS = b"""# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="glm-ocr"} 3.0
vllm:kv_cache_usage_perc{engine="0",model_name="glm-ocr"} 0.25
vllm:generation_tokens_total{engine="0",model_name="glm-ocr"} 1.2e+06
vllm:cache_config_info{block_size="16",num_gpu_blocks="8000",engine="0"} 1.0
"""
TABLES = [
    '<table><thead><tr><th rowspan="2">a</th><th>b</th></thead><tr><td colspan=2>한글</td></tr>'.encode(),
    b"| a | b |\n|---|:-:|\n| 1 | 2 \\| 3 |\n",
    "<fcel>하나<fcel>둘<nl><ecel><lcel><nl>".encode(),
    b"\\begin{tabular}{ll} a & b \\\\ c & d \\end{tabular} $x^2$",
]
ORDER = b'{"document": "a.pdf", "files": {"/a.pdf": "0123456789"}}\n{"document": "b.pdf", "files": {}}\n'
QUESTIONS = [
    b'{"id": "1", "text": "\xeb\xac\xbc", "pages": ["a.pdf#1"]}\n{"query": "two"}\n',
    b"a question\nanother\n",
]
