"""How the service is: for people, for proxies, for Prometheus."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import PlainTextResponse
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

import penstock
from penstock.passes.prepared_run import servers_of
from penstock.processes.resources import cores, visible_gpus
from penstock.serve.guard.connections import ConnectionTable
from penstock.serve.metrics import Figure, RequestCounts, ServiceFigures, text_of
from penstock.serve.routes.context import Context
from penstock.serve.routes.models import NOT_WELL, EnginesAnswer, HealthAnswer, LiveAnswer


class StatusRoutes:
    """One method for each path."""

    def __init__(self, context: Context, counts: RequestCounts) -> None:
        self._context = context
        self._counts = counts

    def add_to(self, app: FastAPI) -> None:
        app.get("/health", response_model=HealthAnswer, responses=NOT_WELL)(self.get_health)
        app.get("/health/live", response_model=LiveAnswer)(self.get_liveness)
        app.get("/metrics", response_class=PlainTextResponse)(self.get_metrics)
        app.get("/v1/engines", response_model=EnginesAnswer)(self.get_engines)

    async def get_health(self) -> dict[str, Any]:
        """Whether it is ready: 200 after it has read a page of our own, 503 with the reason until then."""
        self._context.check_ready()
        return self._told()

    async def get_liveness(self) -> dict[str, Any]:
        """Whether it answers: always 200. `ready` and `reason` are what /health would say."""
        return self._told()

    def _told(self) -> dict[str, Any]:
        service, problem = self._context.service, self._context.service.problem
        return {
            "version": penstock.__version__,
            "ready": problem is None,
            "reason": problem.message if problem is not None else "",
            "takes_documents": service.takes_documents,
            "waiting_pages": service.waiting,
            "open_to_others": self._context.is_open,
        }

    def get_metrics(self, request: Request) -> PlainTextResponse:
        """Figures in Prometheus' text format."""
        table = getattr(request.app.state, "connections", None)
        text = text_of(ServiceFigures(self._figures(table)), self._counts)
        return PlainTextResponse(text, media_type=CONTENT_TYPE_PLAIN_0_0_4)

    def _figures(self, table: ConnectionTable | None) -> Iterator[Figure]:
        context = self._context
        service, jobs = context.service, context.jobs
        yield "penstock_up", "Whether the run of the service goes on.", float(service.error is None)
        yield "penstock_ready", "Whether a page of our own was read.", float(service.problem is None)
        yield "penstock_waiting_pages", "Pages that were taken and are not read.", service.waiting
        yield "penstock_queued_jobs", "Jobs with options that have not begun.", jobs.own_runs.num_queued
        yield "penstock_arriving_bodies", "Requests whose bodies arrive.", len(context.arrivals)
        yield "penstock_jobs", "Jobs by state.", jobs.count()
        yield "penstock_connections", "Connections that are open.", len(table) if table is not None else 0
        if table is not None:
            yield "penstock_refused_connections_total", "Connections that were refused.", table.refused

    def get_engines(self) -> dict[str, Any]:
        """What reads the documents, on what, and how much waits."""
        service, plan = self._context.service, self._context.service.plan
        return {
            "recipe": plan.name if plan else "",
            "stages": plan.settings() if plan else [],
            "workers": {stage.name: stage.workers for stage in plan} if plan else {},
            "servers": servers_of(plan) if plan else [],
            "cards": [str(card) for card in visible_gpus()],
            "cores": cores(),
            "waiting_pages": service.waiting,
            "queued_jobs": self._context.jobs.own_runs.num_queued,
            "error": service.error.message if service.error is not None else "",
        }
