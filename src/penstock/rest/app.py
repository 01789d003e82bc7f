"""The application: routes, errors and guard put together."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from fastapi import Depends, FastAPI

from penstock import __version__
from penstock.rest import forwarding
from penstock.rest.access.audited_herder import AuditedHerder
from penstock.rest.access.auth import Auth
from penstock.rest.access.guard import Guard
from penstock.rest.access.masked_herder import MaskedHerder
from penstock.rest.access.peers import peers_of
from penstock.rest.access.protection import Protection
from penstock.rest.consumers_api import ConsumersApi
from penstock.rest.herder_api import HerderApi
from penstock.rest.http import errors
from penstock.rest.http.calls import Calls, refuse_while_starting
from penstock.rest.http.leaving import Leaving
from penstock.rest.routes import connectors as routes_connectors
from penstock.rest.routes import consumers as routes_consumers
from penstock.rest.routes import internal as routes_internal
from penstock.rest.routes import loggers as routes_loggers
from penstock.rest.routes import metrics as routes_metrics
from penstock.rest.routes import offsets as routes_offsets
from penstock.rest.routes import plugins as routes_plugins
from penstock.rest.routes import sql as routes_sql
from penstock.rest.routes import worker as routes_worker
from penstock.rest.sql.api import SqlApi
from penstock.rest.sql.failures import Failure

MakeSql = Callable[[HerderApi], SqlApi]
"""From the herder, with its secrets hidden and its changes in the audit, to SQL over it."""
# Named for all statuses at once: FastAPI would otherwise announce its own 422, which never comes.
FAILURES: dict[int | str, dict[str, Any]] = {
    "default": {"model": errors.ErrorMessage, "description": "What went wrong"}
}


def create_app(
    herder: HerderApi,
    host_names: Collection[str] = ("localhost",),
    protection: Protection | None = None,
    consumers: ConsumersApi | None = None,
    sql: MakeSql | None = None,
) -> FastAPI:
    """Make the application that serves ``herder``.

    It may be served before the herder's worker has started: until then all but ``/``, ``/health``
    and the loggers answer 503. ``host_names`` are the names under which clients may address it,
    beside any plain address. Without ``protection`` everyone who reaches it may do everything;
    secrets are hidden in any case. With ``consumers`` it answers about these and about topics too,
    and with ``sql`` it runs statements.
    """
    protection = protection or Protection()
    app = FastAPI(
        title="Penstock",
        description="Kafka Connect's REST API.",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        responses=FAILURES,
    )
    masked = MaskedHerder(
        AuditedHerder(herder), protection.secret_keys, shows_stored=protection.shows_stored
    )
    app.state.calls = Calls(masked)
    app.state.consumers = consumers
    if sql is not None:
        app.state.sql = sql(masked)
        app.include_router(routes_sql.health)
        app.exception_handler(Failure)(routes_sql.failed)
    app.include_router(routes_worker.router)
    if protection.admin:
        app.include_router(routes_loggers.router)
    for routes in (
        routes_connectors,
        routes_metrics,
        routes_offsets,
        routes_plugins,
        routes_internal,
        *((routes_consumers,) if consumers else ()),
        *((routes_sql,) if sql else ()),
    ):
        app.include_router(routes.router, dependencies=[Depends(refuse_while_starting)])
    errors.install(app)
    forwarding.install(app)
    app.add_middleware(Auth, doorkeeper=protection.doorkeeper, verify_peer=peers_of(herder))
    app.add_middleware(Guard, host_names=host_names)
    app.add_middleware(Leaving)
    return app
