"""Writes summaries and keywords of blocks."""

from __future__ import annotations

from dataclasses import replace

from penstock.documents.docjson.enriched_block import EnrichedBlock
from penstock.documents.docjson.model import BilingualText, Enrichment, Keywords
from penstock.documents.docjson.questions import BlockQuestion
from penstock.engines.summarise.llm import LlmWriter
from penstock.engines.summarise.rules import BlockFacts, NoWriter, RuleWriter, SummaryWriter, WrittenSummary
from penstock.errors import EngineError
from penstock.stage import Worker
from penstock.stages.summarise import Summarise
from penstock.workers.passes.describe_pictures import with_shortfall


class SummariseWorker(Worker[EnrichedBlock]):
    def __init__(self, stage: Summarise) -> None:
        self._writer = _writer(stage)
        self._languages = stage.lang

    def __call__(self, items: list[EnrichedBlock]) -> list[EnrichedBlock]:
        written = self._writer.write([_question(block, self._languages) for block in items])
        return [_enriched(block, said) for block, said in zip(items, written, strict=True)]

    def close(self) -> None:
        self._writer.close()


def _writer(stage: Summarise) -> SummaryWriter:
    if stage.engine == "llm":
        return LlmWriter(
            stage.servers, stage.model, stage.api_key, stage.in_flight, max_tokens=stage.max_tokens
        )
    return RuleWriter() if stage.engine == "rule" else NoWriter()


def _asked(block: EnrichedBlock) -> BlockQuestion:
    if block.question is None:
        raise EngineError(f"{block.id} was listed without its question.")
    return block.question


def _question(block: EnrichedBlock, languages: tuple[str, ...]) -> BlockFacts:
    asked = _asked(block)
    return BlockFacts(
        kind=asked.category,
        caption=asked.caption,
        section=asked.section,
        content=asked.content,
        visible=block.seen.text if block.seen else "",
        rows=asked.rows,
        head=asked.head,
        context=asked.context,
        languages=languages or asked.languages,
    )


def _enriched(block: EnrichedBlock, written: WrittenSummary) -> EnrichedBlock:
    if written.short:
        block = with_shortfall(block, "summarise", written.short)
    return replace(block, enrichment=_enrichment(block, written))


def _enrichment(block: EnrichedBlock, written: WrittenSummary) -> Enrichment:
    return Enrichment(
        summary=BilingualText(ko=written.summary_ko, en=written.summary_en),
        keywords=Keywords(ko=list(written.keywords_ko), en=list(written.keywords_en)),
        items=list(written.items),
        figure_type=_figure_type(block) or written.figure_type,
        visible=block.seen.text if block.seen else "",
        visible_model=block.seen.model if block.seen else "",
        method=written.method,
        model=written.model,
        prompt_id=written.prompt_id,
        context_block_ids=list(_asked(block).context_ids),
        status="fallback" if written.short else "ok",
        flags=[*(shortfall.message for shortfall in block.shortfalls), *written.flags],
    )


def _figure_type(block: EnrichedBlock) -> str:
    """A picture that the vision model reads as a table is a graph."""
    is_picture = _asked(block).category == "complex_image"
    return "graph" if block.seen and is_picture and "<table" in block.seen.text.lower() else ""
