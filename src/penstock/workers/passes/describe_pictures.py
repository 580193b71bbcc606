"""Shows the crops of visual blocks to a vision model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from penstock.documents.docjson.enriched_block import EnrichedBlock, SeenText
from penstock.engines.chat.client import Answer, ChatClient, ChatRequest
from penstock.engines.chat.recognisers import recogniser
from penstock.errors import BadInput, Failure
from penstock.stage import Worker
from penstock.stages.describe_pictures import DescribePictures

TASKS = {"table": "table", "graph": "chart", "diagram": "describe", "complex_image": "describe"}


class DescribePicturesWorker(Worker[EnrichedBlock]):
    def __init__(self, stage: DescribePictures) -> None:
        self._recogniser = recogniser(stage.recogniser)
        self._max_tokens = stage.max_tokens
        self._client = ChatClient(
            stage.servers,
            self._recogniser,
            model=stage.model or None,
            limit=stage.in_flight,
            api_key=stage.api_key,
        )

    def __call__(self, items: list[EnrichedBlock]) -> list[EnrichedBlock]:
        looked = list(items)
        for place, answer in self._ask(items).items():
            if isinstance(answer, Exception):
                looked[place] = with_shortfall(items[place], "describe_pictures", f"not described: {answer}")
            else:
                seen = SeenText(text=answer.text.strip(), model=answer.model or self._recogniser.name)
                looked[place] = replace(items[place], seen=seen)
        return looked

    def close(self) -> None:
        self._client.close()

    def _ask(self, blocks: list[EnrichedBlock]) -> dict[int, Answer | Exception]:
        """The answers by place, of the blocks that need eyes and have a crop."""
        unread: dict[int, Answer | Exception] = {}
        requests: dict[int, ChatRequest] = {}
        for place, block in enumerate(blocks):
            question = block.question
            if question is None or not (question.needs_eyes and question.crop):
                continue
            prompt = self._recogniser.prompt(TASKS[question.category])
            try:
                requests[place] = ChatRequest(Path(block.uri).read_bytes(), prompt, self._max_tokens)
            except OSError as exc:
                unread[place] = BadInput(f"{question.crop} cannot be read: {exc.strerror}.")
        answers = self._client.ask(list(requests.values()))
        return {**unread, **dict(zip(requests, answers, strict=True))}


def with_shortfall(block: EnrichedBlock, stage: str, why: str) -> EnrichedBlock:
    """The block with the reason why it has less than was asked for."""
    failure = Failure(stage=stage, kind="EngineError", message=why, advice="Run again with --retry-failed.")
    return replace(block, shortfalls=(*block.shortfalls, failure))
