"""A client of a served application over a herder that does as it is told."""

from collections.abc import Iterator
from unittest.mock import Mock

import pytest
from fastapi import FastAPI

from penstock.client import ConnectClient


@pytest.fixture
def client(herder: Mock, served: tuple[FastAPI, str]) -> Iterator[ConnectClient]:
    app, url = served
    app.state.calls.herder = herder
    with ConnectClient(url, timeout=10) as client:
        yield client
