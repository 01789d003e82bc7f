"""Rule 10 for stages of frame turns: the worker says yes only while it wants the turn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from penstock.engine.carriers.asking import Answerer
from penstock.engine.carriers.encryption import Certificate
from penstock.engine.carriers.hub import Hub


@pytest.fixture
def hub() -> Iterator[Hub]:
    made = Hub("127.0.0.1")
    yield made
    made.close()


def test_a_turn_that_is_wanted_is_confirmed_as_often_as_it_is_asked(hub: Hub) -> None:
    answerer = Answerer(hub, "", lambda: True)
    assert answerer.question()
    assert answerer.question()
    assert answerer.confirms()


def test_a_revoked_turn_is_never_confirmed(hub: Hub) -> None:
    answerer, other = Answerer(hub, "", lambda: True), Answerer(hub, "", lambda: True)
    answerer.revoke()
    assert not answerer.question()
    assert not answerer.confirms()
    assert other.question()


def test_a_turn_of_a_connector_that_has_moved_is_not_confirmed(hub: Hub) -> None:
    answers = [True, False]
    answerer = Answerer(hub, "", lambda: answers.pop(0))
    assert answerer.question()
    assert not answerer.question()


def test_an_error_is_a_no(hub: Hub) -> None:
    def unknown() -> bool:
        raise RuntimeError("the topics cannot be read")

    assert not Answerer(hub, "", unknown).question()


def test_one_that_is_revoked_while_the_worker_looks_is_not_confirmed(hub: Hub) -> None:
    def revoked_meanwhile() -> bool:
        answerer.revoke()
        return True

    answerer = Answerer(hub, "", revoked_meanwhile)
    assert not answerer.question()


def test_no_worker_and_a_wrong_secret_are_a_no(hub: Hub) -> None:
    answerer = Answerer(hub, "", lambda: True)
    assert not replace(answerer.question, secret="another")()
    hub.close()
    assert not answerer.question()


def test_it_can_be_asked_over_an_encrypted_connection() -> None:
    made = Certificate()
    hub = Hub("127.0.0.1", encrypt=made.encrypt)
    try:
        answerer = Answerer(hub, made.pem, lambda: True)
        assert answerer.question()
        answerer.revoke()
        assert not answerer.question()
    finally:
        hub.close()
