"""The HTTP API, put together: documents and photos in, pages, pictures and search results out.

Answers are JSON, errors too. What documents contain stays data: JSON for programs, text nodes on the web
page, never markup.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass, field

from fastapi import FastAPI
from fastapi.responses import HTMLResponse
from fastapi.routing import APIRoute

import penstock
from penstock.passes.parse import ParseOptions
from penstock.passes.photos import PhotoOptions
from penstock.serve.adapters.docling import DoclingRoutes
from penstock.serve.adapters.glm import GlmRoutes
from penstock.serve.adapters.mineru import MineruRoutes
from penstock.serve.adapters.mistral import MistralRoutes
from penstock.serve.adapters.mistral_files import MistralFileRoutes
from penstock.serve.adapters.open_webui import OpenWebuiRoutes
from penstock.serve.adapters.paddleocr import PaddleocrRoutes
from penstock.serve.answers.bounded_calls import BoundedCalls
from penstock.serve.answers.pictures import DrawnPages
from penstock.serve.answers.searching import ServedSearch
from penstock.serve.answers.worker_threads import WorkerThreads
from penstock.serve.errors import ERRORS
from penstock.serve.guard.key_middleware import REFERENCE, KeyMiddleware
from penstock.serve.guard.keys import KeyRing
from penstock.serve.guard.origin_check import OriginCheck
from penstock.serve.guard.origin_middleware import OriginCheckMiddleware
from penstock.serve.guard.remote_files import RemoteFiles
from penstock.serve.guard.upload_deadlines import ArrivalBounds, ArrivalMiddleware, Arrivals
from penstock.serve.jobs.callbacks import Callbacks, CallbackSettings
from penstock.serve.jobs.jobs import Jobs
from penstock.serve.jobs.results import JobResults
from penstock.serve.metrics import CountingMiddleware, RequestCounts
from penstock.serve.openapi import described, operation_id
from penstock.serve.paths_page import paths_page
from penstock.serve.reading.service import Service
from penstock.serve.requests.body import BodyReader
from penstock.serve.requests.kept_files import KeptFiles
from penstock.serve.routes.context import Context
from penstock.serve.routes.documents import DocumentRoutes
from penstock.serve.routes.extract import ExtractRoutes
from penstock.serve.routes.job_pages import JobPageRoutes
from penstock.serve.routes.jobs import JobRoutes, job_row
from penstock.serve.routes.models import EVERYWHERE
from penstock.serve.routes.review import ReviewRoutes
from penstock.serve.routes.runs import RunRoutes
from penstock.serve.routes.search import SearchRoutes
from penstock.serve.routes.status import StatusRoutes
from penstock.serve.routes.web import add_page
from penstock.sizes import MB

__all__ = ["KeyRing", "PhotoOptions", "RemoteFiles", "ServiceSettings", "app_of"]
EXPORTS_AT_ONCE = 2
TAKERS = 4  # threads that wait for the disk side by side; more would only wait for the interpreter
Ours = type[
    JobRoutes | JobPageRoutes | DocumentRoutes | ExtractRoutes | ReviewRoutes | RunRoutes | SearchRoutes
]
OURS: dict[str, tuple[Ours, ...]] = {
    "Jobs": (JobRoutes, JobPageRoutes),
    "Documents": (DocumentRoutes, RunRoutes),
    "Search": (SearchRoutes, ExtractRoutes),
    "Review": (ReviewRoutes,),
}
OTHERS = (  # the shapes of other projects
    GlmRoutes,
    DoclingRoutes,
    MistralRoutes,
    MistralFileRoutes,
    MineruRoutes,
    OpenWebuiRoutes,
    PaddleocrRoutes,
)


@dataclass(frozen=True, kw_only=True)
class ServiceSettings:
    """What an operator decides. `names` go to OriginCheck; `reading` and `measuring` are what jobs with
    options begin with."""

    max_mb: int = 512
    names: Sequence[str] = ()
    origins: Sequence[str] = ()  # of web pages elsewhere that may use the API
    arrivals: ArrivalBounds = field(default_factory=ArrivalBounds)
    keys: KeyRing = field(default_factory=KeyRing)
    remote: RemoteFiles = field(default_factory=RemoteFiles)
    reading: ParseOptions | None = None
    measuring: PhotoOptions | None = None
    jobs_at_once: int | None = None  # of those with options; None: as the machine allows
    callbacks: CallbackSettings = field(default_factory=CallbackSettings)
    keep_s: float | None = None  # a job's results, after its end
    is_open: bool = False  # to other machines, without a key


def app_of(service: Service, settings: ServiceSettings | None = None) -> FastAPI:
    """Returns the application. The caller enters and leaves `service`."""
    settings = settings or ServiceSettings()
    context = _context(service, settings)
    counts = RequestCounts()
    app = FastAPI(
        title="Penstock",
        version=penstock.__version__,
        docs_url=None,
        redoc_url=None,
        lifespan=_opened(context),
        responses=EVERYWHERE,
        generate_unique_id_function=operation_id,
    )
    app.state.out = service.out
    app.openapi = described(app, bool(settings.keys))  # type: ignore[method-assign]
    # the last is the first to see a request
    app.add_middleware(ArrivalMiddleware, bounds=settings.arrivals)
    app.add_middleware(KeyMiddleware, keys=settings.keys)
    app.add_middleware(OriginCheckMiddleware, check=OriginCheck(settings.names, settings.origins))
    app.add_middleware(CountingMiddleware, counts=counts)
    for error, answer in ERRORS.items():
        app.add_exception_handler(error, answer)
    _add_routes(app, context, counts)
    return app


def _add_routes(app: FastAPI, context: Context, counts: RequestCounts) -> None:
    for name, group in OURS.items():
        with _tagged(app, name):
            for routes in group:
                routes(context).add_to(app)
    with _tagged(app, "Status"):
        StatusRoutes(context, counts).add_to(app)
    for others in OTHERS:
        others(context).add_to(app)
    app.get(REFERENCE, include_in_schema=False)(lambda: HTMLResponse(paths_page(app.openapi())))
    add_page(app)


@contextmanager
def _tagged(app: FastAPI, name: str) -> Iterator[None]:
    """Puts the paths that the block adds into a group of the API's description."""
    before = len(app.routes)
    yield
    for route in app.routes[before:]:
        assert isinstance(route, APIRoute)
        route.tags = [name]


def _context(service: Service, settings: ServiceSettings) -> Context:
    jobs = Jobs(
        service,
        settings.reading,
        settings.keep_s,
        measuring=settings.measuring,
        at_once=settings.jobs_at_once,
    )
    return Context(
        service=service,
        jobs=jobs,
        results=JobResults(service, jobs),
        bodies=BodyReader(service, settings.max_mb * MB, settings.remote),
        arrivals=Arrivals(settings.arrivals),
        pictures=DrawnPages(service.out),
        search=ServedSearch(service),
        exporting=BoundedCalls(EXPORTS_AT_ONCE),
        takers=WorkerThreads("take", TAKERS),
        kept_files=KeptFiles(service.incoming),
        callbacks=settings.callbacks,
        is_open=settings.is_open,
    )


def _opened(context: Context) -> Callable[[FastAPI], AbstractAsyncContextManager[None]]:
    @asynccontextmanager
    async def opened(_: FastAPI) -> AsyncIterator[None]:
        search = context.search
        callbacks = Callbacks(context.jobs, context.callbacks, job_row)
        with (
            context.jobs,
            context.takers,
            context.kept_files,
            callbacks,
            context.pictures.opened,
            search.opened,
            search.opened_embedder,
        ):
            yield

    return opened
