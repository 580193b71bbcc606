"""How the service is: for people, for proxies, for Prometheus."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import PlainTextResponse

import penstock
from penstock.passes.work import servers_of
from penstock.processes.resources import cores, visible_gpus
from penstock.serve.metrics import RequestCounts, Sample, lines
from penstock.serve.routes.context import Context
from penstock.serve.routes.models import EnginesAnswer, HealthAnswer


class StatusRoutes:
    """One method for each path."""

    def __init__(self, context: Context, counts: RequestCounts) -> None:
        self._context = context
        self._counts = counts

    def add_to(self, app: FastAPI) -> None:
        app.get("/health", response_model=HealthAnswer)(self.health)
        app.get("/metrics", response_class=PlainTextResponse)(self.metrics)
        app.get("/v1/engines", response_model=EnginesAnswer)(self.engines)

    async def health(self) -> dict[str, Any]:
        """Whether it is well: 200 when documents can be read, 503 with the reason when not."""
        service = self._context.service
        if service.error is not None:
            raise service.error
        return {
            "version": penstock.__version__,
            "ready": True,
            "takes_documents": service.takes_documents,
            "waiting_pages": service.waiting,
            "open_to_others": self._context.is_open,
        }

    def metrics(self, request: Request) -> PlainTextResponse:
        """Figures in Prometheus' text format."""
        context = self._context
        table = getattr(request.app.state, "connections", None)
        gauges: list[Sample] = [
            ("penstock_up", {}, float(context.service.error is None)),
            ("penstock_waiting_pages", {}, context.service.waiting),
            ("penstock_queued_jobs", {}, context.jobs.own_runs.num_queued),
            ("penstock_arriving_bodies", {}, len(context.arrivals)),
            ("penstock_connections", {}, len(table) if table is not None else 0),
            *(("penstock_jobs", {"state": state}, count) for state, count in context.jobs.count().items()),
        ]
        refused: list[Sample] = (
            [("penstock_refused_connections_total", {}, float(table.refused))] if table is not None else []
        )
        text = lines("gauge", gauges) + lines("counter", [*refused, *self._counts.samples()])
        return PlainTextResponse(text, media_type="text/plain; version=0.0.4; charset=utf-8")

    def engines(self) -> dict[str, Any]:
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
