"""An application served as a worker serves it, for the length of a ``with`` block."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
from fastapi import FastAPI

from penstock.rest import RestServer


@contextmanager
def serving(app: FastAPI, **options: Any) -> Iterator[httpx.Client]:
    """A client of ``app`` on a port of its own; ``options`` are the client's."""
    server = RestServer(app, port=0)
    server.start()
    try:
        settings = {"timeout": 60, **options}
        with httpx.Client(base_url=server.url, trust_env=False, **settings) as client:
            yield client
    finally:
        server.stop()
