"""Pass 2: looks at pictures, then writes summaries and keywords. One item is one block.

An item's `markdown` is a question as JSON on the way in and an enrichment as JSON on the way out;
`uri` is its crop. Only pictures, and tables nobody could read, are shown to a vision engine; text never is.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from penstock.errors import PlanError
from penstock.item import Item
from penstock.stage import Batch, Stage, tuning

if TYPE_CHECKING:
    from penstock.engines.chat import Answer
    from penstock.engines.summarise import Question, Told, Writer

TextEngine = Literal["none", "rule", "llm"]
TASKS = {"table": "table", "graph": "chart", "diagram": "describe", "complex_image": "describe"}
LOOK_TOKENS = 1_500
TOGETHER = Batch(max_items=32, linger_ms=20.0)  # blocks an asking thread takes; the client mixes them all


@dataclass(frozen=True, kw_only=True)
class Look(Stage):
    """Shows crops to a vision model with its own prompts."""

    name: ClassVar[str] = "look"
    reads: ClassVar[tuple[str, ...]] = ("uri",)
    writes: ClassVar[tuple[str, ...]] = ("markdown",)
    recogniser: str = "deepseek-ocr"
    model: str = ""
    servers: tuple[str, ...] = tuning(())
    in_flight: int = tuning(128)
    api_key: str | None = field(default=None, repr=False, metadata={"tuning": True})
    batch: Batch = tuning(TOGETHER)
    overlap: int = tuning(4)

    def open(self) -> _Looker:
        return _Looker(self)


class _Looker:
    def __init__(self, stage: Look) -> None:
        from penstock.engines.chat import ChatClient
        from penstock.engines.recognisers import recogniser

        self._recogniser = recogniser(stage.recogniser)
        self._client = ChatClient(
            stage.servers,
            self._recogniser,
            model=stage.model or None,
            limit=stage.in_flight,
            api_key=stage.api_key,
        )

    def __call__(self, items: list[Item]) -> list[Item]:
        asked = [json.loads(item.markdown) for item in items]
        seen = [place for place, each in enumerate(asked) if each["needs_eyes"] and each["crop"]]
        answers = self._ask([items[place] for place in seen], [asked[place] for place in seen])
        for place, answer in zip(seen, answers, strict=True):
            _see(asked[place], answer, self._recogniser.name)
        return [
            replace(item, markdown=json.dumps(each, ensure_ascii=False))
            for item, each in zip(items, asked, strict=True)
        ]

    def close(self) -> None:
        self._client.close()

    def _ask(self, items: Sequence[Item], asked: Sequence[dict[str, Any]]) -> list[Answer | Exception]:
        from penstock.engines.chat import ChatRequest

        requests = [
            ChatRequest(
                Path(item.uri).read_bytes(), self._recogniser.prompt(TASKS[each["category"]]), LOOK_TOKENS
            )
            for item, each in zip(items, asked, strict=True)
        ]
        return [*self._client.ask(requests)]


def _see(asked: dict[str, Any], answer: Answer | Exception, model: str) -> None:
    """Puts what the model saw into the question. A picture it reads as a table is a graph."""
    if isinstance(answer, Exception):
        asked["flags"] = [*asked.get("flags", []), f"not looked at: {answer}"]
        return
    asked["visible"] = answer.text.strip()
    asked["looked"] = model
    if asked["category"] == "complex_image" and "<table" in answer.text.lower():
        asked["figure_type"] = "graph"


@dataclass(frozen=True, kw_only=True)
class Summarise(Stage):
    """Summary and keywords by rules or by a language model."""

    name: ClassVar[str] = "summarise"
    writes: ClassVar[tuple[str, ...]] = ("markdown",)
    engine: TextEngine = "rule"
    model: str = ""
    servers: tuple[str, ...] = tuning(())
    in_flight: int = tuning(64)
    api_key: str | None = field(default=None, repr=False, metadata={"tuning": True})
    batch: Batch = tuning(TOGETHER)
    overlap: int = tuning(4)

    def __post_init__(self) -> None:
        if self.engine not in ("none", "rule", "llm"):
            raise PlanError(f"There is no text engine {self.engine!r}.", "Choose from: none, rule, llm.")
        if self.engine == "llm" and not self.servers:
            raise PlanError(
                "The text engine 'llm' needs a server.", "Name one with --server http://host:8000."
            )

    def open(self) -> _Summariser:
        return _Summariser(self._writer())

    def _writer(self) -> Writer:
        from penstock.engines.summarise import NoWriter, RuleWriter

        if self.engine == "llm":
            from penstock.engines.summarise_llm import LlmWriter

            return LlmWriter(self.servers, self.model, self.api_key, self.in_flight)
        return RuleWriter() if self.engine == "rule" else NoWriter()


class _Summariser:
    def __init__(self, writer: Writer) -> None:
        self._writer = writer

    def __call__(self, items: list[Item]) -> list[Item]:
        asked = [json.loads(item.markdown) for item in items]
        told = self._writer.write([_question(each) for each in asked])
        return [
            replace(item, markdown=_enrichment(each, one))
            for item, each, one in zip(items, asked, told, strict=True)
        ]

    def close(self) -> None:
        self._writer.close()


def _question(asked: dict[str, Any]) -> Question:
    from penstock.engines.summarise import Question

    return Question(
        kind=asked["category"],
        caption=asked["caption"],
        section=tuple(asked["section"]),
        content=asked["content"],
        visible=asked.get("visible", ""),
        rows=tuple(tuple(row) for row in asked["rows"]),
        head=asked["head"],
        context=tuple(asked["context"]),
    )


def _enrichment(asked: dict[str, Any], told: Told) -> str:
    from penstock.documents.docjson import Enrichment, Keywords, Words

    return Enrichment(
        summary=Words(ko=told.summary_ko, en=told.summary_en),
        keywords=Keywords(ko=list(told.keywords_ko), en=list(told.keywords_en)),
        items=list(told.items),
        figure_type=asked.get("figure_type") or told.figure_type,
        visible=asked.get("visible", ""),
        method=told.method,
        model=told.model or asked.get("looked", ""),
        prompt_id=told.prompt_id,
        context_block_ids=list(asked["context_ids"]),
        status=told.status,
        flags=[*asked.get("flags", []), *told.flags],
    ).model_dump_json(exclude_defaults=True)
