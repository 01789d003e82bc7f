"""What a request must say that changes how long consumers are kept."""

from __future__ import annotations

from collections.abc import Callable
from unittest.mock import Mock

import pytest

from penstock.kafka.clients import Connection
from penstock.rest.consumers_api import ConsumersApi
from penstock.runtime.errors import BadRequest


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> ConsumersApi:
    made = ConsumersApi(lambda: Connection("unasked:9092"))
    made._made = Mock()
    monkeypatch.setattr(made, "topic", lambda name: {"name": name})
    return made


def changes(api: ConsumersApi) -> dict[str, tuple[Callable[[str, bytes], object], Mock]]:
    directory = api._topics.directory
    assert isinstance(directory, Mock)
    return {
        "ttl": (api.keep_consumer, directory.keep_for),
        "consumer_ttl": (api.keep_consumers_of, directory.keep_consumers_of),
    }


@pytest.mark.parametrize("key", ["ttl", "consumer_ttl"])
def test_a_change_that_says_nothing_is_refused(api: ConsumersApi, key: str) -> None:
    change, done = changes(api)[key]
    with pytest.raises(BadRequest, match=f'"{key}" is needed: .* or none'):
        change("x", b"{}")
    done.assert_not_called()


@pytest.mark.parametrize("key", ["ttl", "consumer_ttl"])
@pytest.mark.parametrize(("value", "ttl"), [("null", None), ('"none"', None), ('"1m"', 60_000)])
def test_a_change_that_says_so(api: ConsumersApi, key: str, value: str, ttl: int | None) -> None:
    change, done = changes(api)[key]
    change("x", f'{{"{key}": {value}}}'.encode())
    done.assert_called_once_with("x", ttl)
