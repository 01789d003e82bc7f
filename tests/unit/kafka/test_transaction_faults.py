"""A producer that was fenced says so wherever the client is asked for what has happened."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import pytest
from confluent_kafka import KafkaError, KafkaException

from penstock.kafka import clients
from penstock.kafka.clients import Connection
from penstock.kafka.errors import LeaseLost
from penstock.kafka.transactions import Transactions

FENCED = KafkaException(KafkaError(KafkaError._FENCED, "fenced by a newer instance", True))


class _Producer:
    """Raises what the real one does when it has been fenced."""

    def __init__(self, fails: Callable[[], NoReturn]) -> None:
        self._fails = fails

    def __len__(self) -> int:
        return 1

    def init_transactions(self, _timeout: float) -> None:
        pass

    def poll(self, _seconds: float) -> int:
        self._fails()

    def flush(self, _seconds: float) -> int:
        self._fails()


def _plainly() -> NoReturn:
    raise FENCED


def _while_it_logs() -> NoReturn:
    raise SystemError("returned a result with an exception set") from FENCED


@pytest.mark.parametrize("fails", [_plainly, _while_it_logs])
@pytest.mark.parametrize("ask", [Transactions.serve, Transactions.make_room, Transactions.drain])
def test_the_lease_is_lost(
    monkeypatch: pytest.MonkeyPatch,
    fails: Callable[[], NoReturn],
    ask: Callable[[Transactions], None],
) -> None:
    made: Any = lambda *_, **__: _Producer(fails)  # noqa: E731 (one expression)
    monkeypatch.setattr(clients, "transactional_producer", made)
    with pytest.raises(LeaseLost, match="fenced"):
        ask(Transactions(Connection("unused:1"), "id"))


def test_an_error_of_another_kind_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> NoReturn:
        raise SystemError("broken")

    made: Any = lambda *_, **__: _Producer(broken)  # noqa: E731 (one expression)
    monkeypatch.setattr(clients, "transactional_producer", made)
    with pytest.raises(SystemError, match="broken"):
        Transactions(Connection("unused:1"), "id").drain()
