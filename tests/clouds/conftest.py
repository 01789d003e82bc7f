"""One server a cloud and run; each test has its own buckets."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from cloud_stores import AzureEndpoint, CloudEndpoint, GoogleEndpoint, ProgramMissing


def _running(kind: type[CloudEndpoint]) -> Iterator[CloudEndpoint]:
    try:
        endpoint = kind()
    except ProgramMissing as missing:
        reason = f"npm or Go is missing for the storage of {missing}: scripts/cloud_stores.sh"
        if os.environ.get("PENSTOCK_NO_SKIP"):
            pytest.fail(reason)
        pytest.skip(reason)
    with endpoint as running:
        yield running


@pytest.fixture(scope="session")
def azure() -> Iterator[CloudEndpoint]:
    """Azure Blob Storage."""
    yield from _running(AzureEndpoint)


@pytest.fixture(scope="session")
def google() -> Iterator[CloudEndpoint]:
    """Google Cloud Storage, for reading."""
    yield from _running(GoogleEndpoint)


@pytest.fixture(params=["azure", "google"])
def cloud(request: pytest.FixtureRequest) -> CloudEndpoint:
    """Each of them."""
    endpoint: CloudEndpoint = request.getfixturevalue(request.param)
    return endpoint


@pytest.fixture
def bucket(name: str) -> str:
    """A name that any cloud takes for a bucket."""
    return name[-40:].strip("-")
