"""A served application over a herder that does as it is told."""

from collections.abc import Iterator
from unittest.mock import Mock

import httpx
import pytest
from fastapi import FastAPI


@pytest.fixture
def http(herder: Mock, served: tuple[FastAPI, str]) -> Iterator[httpx.Client]:
    """A client of an application whose herder is this test's."""
    app, url = served
    app.state.calls.herder = herder
    with httpx.Client(base_url=url, trust_env=False, timeout=60) as client:
        yield client
