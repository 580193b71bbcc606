"""The answers of the API as its description shows them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat


class ErrorAnswer(BaseModel):
    """Every error: a sentence, and what to do."""

    error: str = Field(examples=["There is no job 'a1'."])
    advice: str = Field("", examples=["Send it again later."])


class DocumentAnswer(BaseModel):
    """A document's progress."""

    name: str = Field(examples=["0f3a1c9be2d47a55/report.pdf"])
    pages: int | None = Field(description="None until they are counted.", examples=[12])
    done: int = Field(examples=[11])
    failed: int = Field(description="Pages with any failure.", examples=[1])
    ready: bool


class PartAnswer(BaseModel):
    """One page of a document that was read."""

    page: int
    ok: bool


class DocumentPartsAnswer(DocumentAnswer):
    """A document's progress and its pages."""

    parts: list[PartAnswer]


class TakenAnswer(DocumentAnswer):
    """A document that was taken, and its job."""

    job: str


class JobAnswer(BaseModel):
    """A job. `documents` are empty where it has a run of its own; `files` are the names that were sent."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "id": "5f0c2a7b9d3e4f6a8b1c2d3e",
                    "kind": "parse",
                    "state": "running",
                    "created": "2026-11-18T15:00:00Z",
                    "finished": None,
                    "files": ["report.pdf"],
                    "documents": [
                        {
                            "name": "0f3a1c9be2d47a55/report.pdf",
                            "pages": 12,
                            "done": 3,
                            "failed": 0,
                            "ready": False,
                        }
                    ],
                    "pages": 12,
                    "done": 3,
                    "failed": 0,
                    "error": "",
                    "callback": "",
                    "results": ["json", "zip", "md", "docjson"],
                }
            ]
        }
    )

    id: str
    kind: Literal["parse", "volumes"]
    state: Literal["queued", "running", "done", "failed", "cancelled"]
    created: datetime
    finished: datetime | None = Field(description="Set when the job is over.")
    files: list[str]
    documents: list[DocumentAnswer]
    pages: int | None
    done: int
    failed: int
    error: str = Field(description="Why a job failed.")
    callback: Literal["", "waiting", "delivered", "failed"] = Field(
        description="What became of the POST to its `callback`; empty without one."
    )
    results: list[str] = Field(description="Formats of /v1/jobs/{id}/result.")


class HealthAnswer(BaseModel):
    """Whether the service is well."""

    version: str
    ready: bool = Field(description="It has read a page of our own since it was started.")
    takes_documents: bool
    waiting_pages: int
    open_to_others: bool = Field(description="Other machines reach it, and there are no keys.")


class LiveAnswer(HealthAnswer):
    """How the service is, ready or not."""

    reason: str = Field(description="Why it is not ready.")


class SearchQuestion(BaseModel):
    """A question to the index."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"question": "설치 방법", "top": 5}]}
    )

    question: str = Field(min_length=1, max_length=1000)
    top: int = Field(10, ge=1, le=100)
    documents: list[str] = Field([], max_length=1000, description="Only these.")
    pages: str | None = Field(None, max_length=1000, description="Only these: 3-9.")
    labels: list[str] = Field([], max_length=100, description="Only regions of these kinds.")
    sections: list[str] = Field([], max_length=100, description="Only below these titles.")


class ExtractQuestion(BaseModel):
    """A document of the run, and the fields that are wanted of it as JSON Schema."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [{"name": "bill.pdf", "fields": {"properties": {"total": {"type": "number"}}}}]
        },
    )

    name: str = Field(min_length=1, max_length=4000)
    fields: dict[str, Any] = Field(description="JSON Schema: its properties are the fields.")


class FieldAnswer(BaseModel):
    """A value, and the places that prove it."""

    path: str = Field(description="Its JSON pointer in the values.")
    value: Any
    text: str = Field(description="As the page has it.")
    locators: list[str]
    by: str = Field(description="What led to it: label, table or form.")
    label: str
    score: float = Field(description="How well the place fits the field; no probability.")


class ExtractAnswer(BaseModel):
    """The values of a document in the shape of the schema, null where nothing was found."""

    document: str
    locator: str
    values: dict[str, Any]
    fields: list[FieldAnswer]
    missing: list[str] = Field(description="Paths of fields without a value.")


class SearchHit(BaseModel):
    """A page that answers, with the region or chunk that answers best."""

    page_id: str
    document: str
    page: int
    score: float
    snippet: str
    sources: dict[str, tuple[int, float]]
    section: str
    pages: list[int]
    region: int | None
    label: str | None
    box: list[int] | None
    crop: str | None
    locator: str = Field(description="For /v1/at.", examples=["penstock:report.pdf/p3/r7"])


class LocatedAnswer(BaseModel):
    """What stands at an address."""

    locator: str
    kind: Literal["document", "page", "region", "line", "cell", "chunk", "thing"]
    document: str
    page: int | None
    region: int | None
    label: str
    bbox: list[int] | None = Field(description="On the page's grid of 0 to 1000.")
    text: str
    confidence: float | None = Field(description="None where the file itself gives the text.")
    reader: str
    crop: str | None
    places: list[str] = Field(description="Of a chunk: the locators of its regions.")


class ReviewAnswer(BaseModel):
    """A place that a person should look at."""

    locator: str
    document: str
    page: int
    kind: Literal["page", "region", "line", "cell"]
    reason: str
    text: str
    other: str = Field(description="What a second reader read.")
    confidence: float | None
    bbox: list[int] | None = Field(description="On the page's grid of 0 to 1000.")
    wrong: float = Field(description="How many of its characters are likely wrong.")


class TypedCorrection(BaseModel):
    """What stands somewhere in truth."""

    model_config = ConfigDict(extra="forbid")

    locator: str = Field(max_length=4000, examples=["penstock:report.pdf/p3/r7/c1.0"])
    text: str = Field(max_length=100_000)
    before: str | None = Field(default=None, max_length=1_000_000, description="What it said to its writer.")
    who: str = Field(default="", max_length=200, description="Who corrects; with a key its name counts.")


class CorrectionAnswer(BaseModel):
    """A correction: who put it right, when, and what it said before."""

    locator: str
    who: str
    before: str
    after: str
    at: str


class DrawnBox(BaseModel):
    """A box around a thing, in the photo's pixels, and what the thing is."""

    model_config = ConfigDict(extra="forbid")

    box: tuple[FiniteFloat, FiniteFloat, FiniteFloat, FiniteFloat] = Field(
        description="Left, top, right, bottom."
    )
    label: str = Field(min_length=1, max_length=80)


class DrawnBoxes(BaseModel):
    """Things that someone drew on a photo."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"boxes": [{"box": [420, 610, 800, 1310], "label": "chair"}]}]},
    )

    boxes: list[DrawnBox] = Field(min_length=1, max_length=100)


class EmbedQuestion(BaseModel):
    """Texts to embed by the engine that embedded the run."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"texts": ["설치 방법"]}]})

    texts: list[str] = Field(min_length=1, max_length=256)


class EmbedAnswer(BaseModel):
    """A vector for each text."""

    engine: str
    vectors: list[list[float]]


class EnginesAnswer(BaseModel):
    """What reads: the plan, its servers, the cards, and what waits."""

    recipe: str
    stages: list[dict[str, Any]]
    workers: dict[str, int] = Field(description="How many work side by side, by stage.")
    servers: list[str]
    cards: list[str]
    cores: int
    waiting_pages: int
    queued_jobs: int
    error: str


class RunStageAnswer(BaseModel):
    """One stage of a run. The shares are of its workers' time since the run began, and add up to 1."""

    name: str
    workers: int
    waiting: int = Field(description="Pages before it now.")
    running: int = Field(description="Pages in it now.")
    done: int
    failed: int
    busy: float
    starved: float = Field(description="Waiting for pages.")
    blocked: float = Field(description="Waiting for room behind it.")


class RunAnswer(BaseModel):
    """The service's run, or the one that OUT keeps the profile of."""

    is_live: bool
    done: int
    failed: int
    waiting_pages: int
    finding: str = Field(examples=["Bottleneck: recognise, busy 97%; load blocked 61%."])
    advice: str
    bottleneck: str
    stages: list[RunStageAnswer]


class FailureAnswer(BaseModel):
    """A page that failed, or a part of one."""

    document: str
    page: int
    part: str = Field(description="The region or thing; empty where it was all of the page.")
    stage: str
    message: str
    advice: str
    can_try_again: bool = Field(description="The service has the file: POST /v1/retry.")


def utc(seconds: float) -> str:
    """Returns seconds since 1970 as the API writes times: 2026-11-18T15:00:00Z."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def errors(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Returns the errors of a path for its description.

    They point to the model, which one path names (`NOT_WELL`): FastAPI would build it anew for each of 700.
    """
    return {status: {"content": ERROR_BODY, "description": WORDS[status]} for status in statuses}


ERROR_BODY = {"application/json": {"schema": {"$ref": f"#/components/schemas/{ErrorAnswer.__name__}"}}}


WORDS = {
    400: "The body is broken, empty, or ended too soon.",
    401: "There is no such key.",
    403: "This host, origin or key may not.",
    404: "There is no such thing, or it is another key's.",
    405: "This service takes no documents.",
    408: "The body did not arrive in time.",
    409: "This cannot be done now.",
    413: "It is too large.",
    415: "It is not of a kind that is taken.",
    422: "A field is wrong.",
    429: "Too much at once; see Retry-After.",
    503: "It cannot go on at the moment, or is shutting down.",
    507: "The disk is full.",
}
NOT_WELL: dict[int | str, dict[str, Any]] = {503: {"model": ErrorAnswer, "description": WORDS[503]}}
EVERYWHERE = errors(400, 401, 403, 408, 422, 429, 503)
