"""Pass 2: looks at pictures, then writes summaries and keywords. One item is one block.

An item's `markdown` is a question as JSON on the way in and an enrichment as JSON on the way out;
`uri` is its crop. Only pictures, and tables nobody could read, are shown to a vision engine; text never is.
A block that a server left without its answer keeps what there is and carries a failed region, which says
why and lets `--retry-failed` ask again.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from penstock.errors import BadInput, PlanError
from penstock.item import Failure, Item, Region
from penstock.stage import Batch, Stage, tuning

if TYPE_CHECKING:
    from penstock.engines.chat.client import Answer
    from penstock.engines.summarise.rules import Question, Told, Writer

TextEngine = Literal["none", "rule", "llm"]
TASKS = {"table": "table", "graph": "chart", "diagram": "describe", "complex_image": "describe"}
LOOK_TOKENS = 1_500
TOGETHER = Batch(max_items=32, linger_ms=20.0)  # blocks an asking thread takes; the client mixes them all


@dataclass(frozen=True, kw_only=True)
class Look(Stage):
    """Shows crops to a vision model with its own prompts."""

    name: ClassVar[str] = "look"
    reads: ClassVar[tuple[str, ...]] = ("uri",)
    writes: ClassVar[tuple[str, ...]] = ("markdown", "regions")
    recogniser: str = "deepseek-ocr"
    model: str = ""
    servers: tuple[str, ...] = tuning(())
    in_flight: int = tuning(128)
    api_key: str | None = field(default=None, repr=False, metadata={"tuning": True})
    batch: Batch = tuning(TOGETHER)
    overlap: int = tuning(4)

    def __post_init__(self) -> None:
        from penstock.engines.chat.recognisers import recogniser

        recogniser(self.recogniser)  # said now: with --fresh it would be said after the old rows are gone

    def open(self) -> _Looker:
        return _Looker(self)


class _Looker:
    def __init__(self, stage: Look) -> None:
        from penstock.engines.chat.client import ChatClient
        from penstock.engines.chat.recognisers import recogniser

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
        looked = list(items)
        for place, answer in self._ask(items, asked).items():
            if isinstance(answer, Exception):
                looked[place] = _short(items[place], "look", f"not looked at: {answer}")
            else:
                _see(asked[place], answer, self._recogniser.name)
        return [
            replace(item, markdown=json.dumps(each, ensure_ascii=False))
            for item, each in zip(looked, asked, strict=True)
        ]

    def close(self) -> None:
        self._client.close()

    def _ask(self, items: list[Item], asked: list[dict[str, Any]]) -> dict[int, Answer | Exception]:
        """The answers by place, of the blocks that need eyes and have a crop."""
        from penstock.engines.chat.client import ChatRequest

        unread: dict[int, Answer | Exception] = {}
        requests: dict[int, ChatRequest] = {}
        for place, (item, each) in enumerate(zip(items, asked, strict=True)):
            if not (each["needs_eyes"] and each["crop"]):
                continue
            prompt = self._recogniser.prompt(TASKS[each["category"]])
            try:
                requests[place] = ChatRequest(Path(item.uri).read_bytes(), prompt, LOOK_TOKENS)
            except OSError as exc:
                unread[place] = BadInput(f"{each['crop']} cannot be read: {exc.strerror}.")
        answers = self._client.ask(list(requests.values()))
        return {**unread, **dict(zip(requests, answers, strict=True))}


def _short(item: Item, stage: str, why: str) -> Item:
    """The block with the reason why it has less than was asked for."""
    failure = Failure(stage=stage, kind="EngineError", message=why, advice="Run again with --retry-failed.")
    return replace(
        item, regions=(*item.regions, Region(label="text", box=(0.0, 0.0, 1.0, 1.0), failure=failure))
    )


def _see(asked: dict[str, Any], answer: Answer, model: str) -> None:
    """Puts what the model saw into the question. A picture it reads as a table is a graph."""
    asked["visible"] = answer.text.strip()
    asked["looked"] = model
    if asked["category"] == "complex_image" and "<table" in answer.text.lower():
        asked["figure_type"] = "graph"


@dataclass(frozen=True, kw_only=True)
class Summarise(Stage):
    """Summary and keywords by rules or by a language model."""

    name: ClassVar[str] = "summarise"
    writes: ClassVar[tuple[str, ...]] = ("markdown", "regions")
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
        from penstock.engines.summarise.rules import NoWriter, RuleWriter

        if self.engine == "llm":
            from penstock.engines.summarise.llm import LlmWriter

            return LlmWriter(self.servers, self.model, self.api_key, self.in_flight)
        return RuleWriter() if self.engine == "rule" else NoWriter()


class _Summariser:
    def __init__(self, writer: Writer) -> None:
        self._writer = writer

    def __call__(self, items: list[Item]) -> list[Item]:
        asked = [json.loads(item.markdown) for item in items]
        told = self._writer.write([_question(each) for each in asked])
        return [_enriched(item, each, one) for item, each, one in zip(items, asked, told, strict=True)]

    def close(self) -> None:
        self._writer.close()


def _question(asked: dict[str, Any]) -> Question:
    from penstock.engines.summarise.rules import Question

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


def _enriched(item: Item, asked: dict[str, Any], told: Told) -> Item:
    if told.short:
        item = _short(item, "summarise", told.short)
    short = [region.failure.message for region in item.regions if region.failure is not None]
    return replace(item, markdown=_enrichment(asked, told, short))


def _enrichment(asked: dict[str, Any], told: Told, short: list[str]) -> str:
    from penstock.documents.docjson.model import Enrichment, Keywords, Words

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
        status="fallback" if told.short else "ok",
        flags=[*short, *told.flags],
    ).model_dump_json(exclude_defaults=True)
