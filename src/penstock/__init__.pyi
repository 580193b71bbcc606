"""The public names for editors and type checkers; __init__.py loads each when it is used."""

from penstock.addresses.locator import Locator as Locator
from penstock.aio import aconvert as aconvert, aparse as aparse
from penstock.api.documents import export as export, parse as parse, read as read
from penstock.api.enriching import enrich as enrich
from penstock.api.evaluation import evaluate as evaluate
from penstock.api.extracting import extract as extract
from penstock.api.photos import volumes as volumes
from penstock.api.pipeline import run as run, upload as upload
from penstock.api.planning import plan_run as plan_run
from penstock.api.reader import Reader as Reader, convert as convert
from penstock.api.reviewing import correct as correct, review as review
from penstock.api.searching import embed as embed, index as index, search as search
from penstock.api.upkeep import check as check, models as models, profile as profile
from penstock.client.async_client import AsyncClient as AsyncClient
from penstock.client.client import Client as Client, ServiceJob as ServiceJob
from penstock.client.connection import ServiceError as ServiceError
from penstock.client.results import PhotoResults as PhotoResults, ServiceDocument as ServiceDocument
from penstock.converted.collection import Documents as Documents
from penstock.converted.document import Document as Document
from penstock.converted.figures import Figure as Figure
from penstock.converted.opened import OpenedRun as OpenedRun, open as open
from penstock.converted.outline import DocumentSection as DocumentSection
from penstock.converted.passages import Passage as Passage
from penstock.converted.tables import DocumentTable as DocumentTable
from penstock.documents.docjson.enriched_block import EnrichedBlock as EnrichedBlock
from penstock.documents.fields.extraction import ExtractedDocument as ExtractedDocument
from penstock.documents.fields.extraction import Extraction as Extraction
from penstock.documents.fields.extraction import FoundField as FoundField
from penstock.documents.fields.extraction import RefusedValue as RefusedValue
from penstock.errors import (
    BadInput as BadInput,
    DeadlinePassed as DeadlinePassed,
    EngineError as EngineError,
    Failure as Failure,
    ItemError as ItemError,
    MissingModel as MissingModel,
    NoProgress as NoProgress,
    OpenError as OpenError,
    OutLocked as OutLocked,
    PenstockError as PenstockError,
    PlanError as PlanError,
    PlanMismatch as PlanMismatch,
    StoreError as StoreError,
    UsageError as UsageError,
    WorkerDied as WorkerDied,
)
from penstock.exports.located import Located as Located
from penstock.exports.review import ReviewPlace as ReviewPlace
from penstock.item import Item as Item
from penstock.page import Page as Page
from penstock.passes.embed import EmbedSummary as EmbedSummary
from penstock.passes.in_order import ParseProgress as ParseProgress
from penstock.passes.pipeline_options import (
    PipelineOptions as PipelineOptions,
    PipelineState as PipelineState,
)
from penstock.passes.scores import Summary as Summary
from penstock.photo import Photo as Photo, PhotoObject as PhotoObject
from penstock.photos.user_boxes import GivenBox as GivenBox, GivenDepth as GivenDepth, KnownSize as KnownSize
from penstock.plan import Plan as Plan
from penstock.region import Line as Line, Region as Region
from penstock.retrieval.hits import Filters as Filters, Hit as Hit
from penstock.retrieval.index import IndexSummary as IndexSummary
from penstock.stage import Batch as Batch, Needs as Needs, Stage as Stage, Worker as Worker
from penstock.store.check import Checkup as Checkup, Damage as Damage
from penstock.store.corrections import Correction as Correction
from penstock.store.remote import mirrored as mirrored
from penstock.trace.fleet import FleetEstimate as FleetEstimate
from penstock.trace.profile import Profile as Profile

__version__: str
__all__: list[str]
