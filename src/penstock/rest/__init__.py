"""Kafka Connect's REST API as a thin wrapper of the herder: it translates and decides nothing.

`create_app` makes the application, `RestServer` serves it from a thread of its own.
"""

from penstock.rest.app import create_app
from penstock.rest.server import RestServer, RestServerError, listen

__all__ = ["RestServer", "RestServerError", "create_app", "listen"]
