"""The HTTP server around the application, with bounds on what strangers may take of it."""

from __future__ import annotations

import resource

import uvicorn
from starlette.applications import Starlette

from penstock.serve.app import ServiceSettings, app_of
from penstock.serve.guard.connections import MAX_CONNECTIONS, ConnectionBounds, ConnectionTable
from penstock.serve.reading.service import Service

GRACE_S = 3  # for answers on their way when the service ends; who waits for a document asks again
FILES = 8192  # that the process may have open; half of them are for the run


def server_of(app: Starlette, bounds: ConnectionBounds | None = None) -> uvicorn.Server:
    table = ConnectionTable(bounds or ConnectionBounds(max_connections=_room()))
    app.state.connections = table
    config = uvicorn.Config(
        app,
        http=table.protocol(),  # type: ignore[arg-type]  # it is called like a class
        access_log=False,
        log_level="error",  # a stranger whose requests are wrong may not fill the log
        timeout_graceful_shutdown=GRACE_S,
    )
    return uvicorn.Server(config)


def service_server(service: Service, settings: ServiceSettings) -> uvicorn.Server:
    return server_of(app_of(service, settings))


def _room() -> int:
    """Returns how many connections there may be. Raises the process's bound on open files if it can."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = FILES if hard == resource.RLIM_INFINITY else min(FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        soft = wanted
    files = FILES if soft == resource.RLIM_INFINITY else soft
    return max(16, min(MAX_CONNECTIONS, files // 2))
