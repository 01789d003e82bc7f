"""The application: routes, errors and guard put together."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from fastapi import Depends, FastAPI

from penstock import __version__
from penstock.rest import (
    errors,
    forwarding,
    routes_connectors,
    routes_internal,
    routes_loggers,
    routes_metrics,
    routes_offsets,
    routes_plugins,
    routes_worker,
)
from penstock.rest.calls import Calls, refuse_while_starting
from penstock.rest.guard import Guard
from penstock.rest.herder_api import HerderApi
from penstock.rest.leaving import Leaving
from penstock.rest.peers import Peerage

# Named for all statuses at once, since FastAPI would else announce its own 422, which never comes.
FAILURES: dict[int | str, dict[str, Any]] = {
    "default": {"model": errors.ErrorMessage, "description": "What went wrong"}
}


def create_app(herder: HerderApi, host_names: Collection[str] = ("localhost",)) -> FastAPI:
    """Make the application that serves ``herder``.

    It may be served before the herder's worker has started: until then all but ``/``, ``/health``
    and the loggers answer 503. ``host_names`` are the names under which clients may address it,
    beside any plain address.
    """
    app = FastAPI(
        title="Penstock",
        description="Kafka Connect's REST API.",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        responses=FAILURES,
    )
    app.state.calls = Calls(herder)
    app.include_router(routes_worker.router)
    app.include_router(routes_loggers.router)
    for routes in (
        routes_connectors,
        routes_metrics,
        routes_offsets,
        routes_plugins,
        routes_internal,
    ):
        app.include_router(routes.router, dependencies=[Depends(refuse_while_starting)])
    errors.install(app)
    forwarding.install(app)
    app.add_middleware(Peerage, herder=herder)
    app.add_middleware(Guard, host_names=host_names)
    app.add_middleware(Leaving)
    return app
