"""Finds the fields of a schema in documents."""

from __future__ import annotations

from dataclasses import replace

from penstock.documents.fields.extraction import ExtractedDocument
from penstock.documents.fields.page_rows import DocumentText
from penstock.documents.fields.prompt import prompt
from penstock.documents.fields.read import by_rules, with_answer
from penstock.documents.fields.schema import FieldSchema
from penstock.engines.chat.json_answers import JsonAnswer, JsonClient
from penstock.errors import EngineError, Failure
from penstock.stage import Worker
from penstock.stages.extract import Extract


class ExtractWorker(Worker[ExtractedDocument]):
    def __init__(self, stage: Extract) -> None:
        self._schema = FieldSchema.parse(stage.schema_name, stage.schema)
        self._client = _client(stage, self._schema) if stage.servers else None

    def __call__(self, items: list[ExtractedDocument]) -> list[ExtractedDocument]:
        texts = [DocumentText.of(item.pages) for item in items]
        if self._client is None:
            return [
                replace(item, extraction=by_rules(self._schema, text))
                for item, text in zip(items, texts, strict=True)
            ]
        answers = self._client.ask([prompt(self._schema, text) for text in texts])
        return [
            self._answered(item, text, answer)
            for item, text, answer in zip(items, texts, answers, strict=True)
        ]

    def close(self) -> None:
        if self._client is not None:
            self._client.close()

    def _answered(
        self, item: ExtractedDocument, text: DocumentText, answer: JsonAnswer | EngineError
    ) -> ExtractedDocument:
        if isinstance(answer, EngineError):
            failure = Failure(
                stage="extract", kind=type(answer).__name__, message=answer.message, advice=answer.advice
            )
            return replace(item, extraction=by_rules(self._schema, text), shortfall=failure)
        found = with_answer(self._schema, text, answer.value, answer.model)
        return replace(item, extraction=found)


def _client(stage: Extract, schema: FieldSchema) -> JsonClient:
    return JsonClient(
        stage.servers,
        schema.answer_schema(),
        model=stage.model,
        api_key=stage.api_key,
        in_flight=stage.in_flight,
        max_tokens=stage.max_tokens,
    )
