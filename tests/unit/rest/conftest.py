"""A served application over a herder that does as it is told."""

from collections.abc import Iterator
from unittest.mock import Mock, create_autospec

import httpx
import pytest

from penstock.rest import RestServer, create_app
from penstock.rest.herder_api import HerderApi


@pytest.fixture
def herder() -> Mock:
    herder: Mock = create_autospec(HerderApi, instance=True)
    herder.health.return_value = ("healthy", "All is well")
    return herder


@pytest.fixture
def http(herder: Mock) -> Iterator[httpx.Client]:
    server = RestServer(create_app(herder), port=0)
    server.start()
    with httpx.Client(base_url=server.url, trust_env=False) as client:
        yield client
    server.stop()
