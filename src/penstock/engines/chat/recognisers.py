"""The recognisers we know: each model's prompts and sampling, and the marks of its tables.

One row a model. A server that runs another model is the row `openai` with prompts of the user's own:
`replace(RECOGNISERS["openai"], prompts={...})`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

from penstock.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class Recogniser:
    """How to ask one model.

    `sampling` goes into every request; `again` is laid over it when an answer looped. `grow` is how
    many times more tokens an answer that hit its budget may have when asked again (1: never again).
    A request with a budget of more than `stream_above` tokens is streamed, so that a loop can be cut.
    """

    name: str
    model: str  # its name on the Hugging Face Hub, for a managed server; "" when there is none
    prompts: Mapping[str, str]
    sampling: Mapping[str, Any] = field(default_factory=dict)
    again: Mapping[str, Any] = field(default_factory=dict)
    max_tokens: int = 8_192
    max_pixels: int | None = None  # what the model's own preprocessor scales down to; None: unknown
    table_marks: Literal["html", "otsl"] = "html"  # the language that it writes tables in
    image_first: bool = True
    watch_loops: bool = True
    grow: int = 4
    # A loop in a short answer costs less than streaming every answer does: one event a token is
    # work for the server's front end, which was the limit for crops at 0.7 scale on an H200.
    stream_above: int = 1_024
    stream_options: Mapping[str, Any] = field(default_factory=lambda: {"include_usage": True})
    server_flags: tuple[str, ...] = ()

    def prompt(self, task: str) -> str:
        """The prompt for a task; a task the model was not trained for gets the prompt for text."""
        return self.prompts.get(task) or self.prompts["text"]


# Greedy on any server. vLLM's own extras (top_k, repetition_penalty) only where the model's card has them.
_GREEDY = {"temperature": 0.0}
# vLLM counts tokens in every event on request, so that an answer we cut is counted too.
_COUNTED = {"include_usage": True, "continuous_usage_stats": True}
# An answer that looped at temperature 0 loops again at 0: a little chance gets it out.
_BY_CHANCE = {"temperature": 0.4, "top_p": 0.9, "seed": 1}

_TABLE = (
    Recogniser(
        name="glm-ocr",
        model="zai-org/GLM-OCR",
        prompts={
            "text": "Text Recognition:",
            "table": "Table Recognition:",
            "formula": "Formula Recognition:",
            # the model's card: fields come as a JSON object with empty values after these words
            "fields": "请按下列JSON格式输出图中信息:\n{schema}",
        },
        # the SDK's request, number by number
        sampling={"temperature": 0.0, "top_p": 1e-05, "top_k": 1, "repetition_penalty": 1.1},
        again={**_BY_CHANCE, "top_k": 50, "repetition_penalty": 1.1},
        max_tokens=8_192,
        stream_options=_COUNTED,
        max_pixels=9_633_792 // 2,  # the checkpoint's longest_edge counts two frames
    ),
    Recogniser(
        name="paddleocr-vl",
        model="PaddlePaddle/PaddleOCR-VL-1.5",
        prompts={
            "text": "OCR:",
            "table": "Table Recognition:",
            "formula": "Formula Recognition:",
            "chart": "Chart Recognition:",
            "seal": "Seal Recognition:",  # from 1.5 on
        },
        sampling=_GREEDY,
        again={**_BY_CHANCE, "repetition_penalty": 1.1},
        max_tokens=4_096,
        stream_options=_COUNTED,
        max_pixels=1_280 * 28 * 28,
        table_marks="otsl",
        server_flags=("--trust-remote-code",),  # as vLLM's own recipe for it says
    ),
    Recogniser(
        name="deepseek-ocr",
        model="deepseek-ai/DeepSeek-OCR",
        # The server adds the image placeholder. It has no chat roles, and asks the picture first.
        prompts={
            "text": "Free OCR.",
            "table": "<|grounding|>Convert the document to markdown.",
            "chart": "Parse the figure.",
            "page": "<|grounding|>Convert the document to markdown.",
            "describe": "Describe this image in detail.",
        },
        # without its special tokens the boxes cannot be read; the n-gram guard of the model's card
        sampling={
            **_GREEDY,
            "skip_special_tokens": False,
            "vllm_xargs": {
                "ngram_size": 30,
                "window_size": 90,
                "whitelist_token_ids": [128821, 128822],
            },
        },
        again=_BY_CHANCE,
        stream_options=_COUNTED,
        max_tokens=7_000,  # of a context of 8,192 a page of six tiles takes up to 933
    ),
    Recogniser(
        name="openai",
        model="",
        prompts={
            "text": "Transcribe all text in this picture exactly as written, in reading order. "
            "Answer with the text only.",
            "table": "Transcribe the table in this picture as one HTML <table> with rowspan and "
            "colspan where cells are merged. Answer with the HTML only.",
            "formula": "Transcribe the formula in this picture as LaTeX, without dollar signs. "
            "Answer with the LaTeX only.",
            "chart": "Give the data of the chart in this picture as one HTML <table>. "
            "Answer with the HTML only.",
            "seal": "Transcribe the text of the stamp in this picture. Answer with the text only.",
        },
        sampling=_GREEDY,
        again=_BY_CHANCE,
        max_tokens=4_096,
    ),
)

RECOGNISERS: Mapping[str, Recogniser] = MappingProxyType({row.name: row for row in _TABLE})


def recogniser(name: str) -> Recogniser:
    if name not in RECOGNISERS:
        known = ", ".join(RECOGNISERS)
        raise UsageError(f"There is no recogniser {name!r}.", f"Known: {known}.")
    return RECOGNISERS[name]
