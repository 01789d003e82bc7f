"""Why a turn that broke did so: it decides whether tasks are suspected."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from unittest.mock import MagicMock

import pytest

from penstock.engine.driver.session import LazySession, SparkSettings
from penstock.engine.driver.turns import Turn, TurnBroken
from penstock.engine.lease.lease import Limits


def spark() -> MagicMock:
    """A session whose JVM lives."""
    made = MagicMock()
    made.sparkContext._gateway.proc.poll.return_value = None
    made.sparkContext._jsc.sc().isStopped.return_value = False
    return made


def kind_of_end(lazy: LazySession, used: MagicMock, meanwhile: Callable[[], object]) -> str:
    """How a turn is told to have ended whose job breaks, and what happens before it says so."""

    def job(*_: object) -> None:
        meanwhile()
        raise ConnectionError("no answer")

    used.range.side_effect = job
    with pytest.raises(TurnBroken) as broken:
        Turn(lazy, MagicMock(), [MagicMock()], Limits()).run()
    return broken.value.kind


@pytest.fixture
def used() -> MagicMock:
    return spark()


@pytest.fixture
def lazy(tmp_path: Path, used: MagicMock) -> LazySession:
    session = LazySession(SparkSettings(tmp_path))
    session._session = used
    return session


def test_a_job_that_breaks_on_a_living_jvm_has_crashed(lazy: LazySession, used: MagicMock) -> None:
    assert kind_of_end(lazy, used, lambda: None) == "crashed"


def test_a_jvm_that_died_is_nobodys_fault(lazy: LazySession, used: MagicMock) -> None:
    def die() -> None:
        used.sparkContext._gateway.proc.poll.return_value = -9

    assert kind_of_end(lazy, used, die) == "spark lost"


def test_a_jvm_that_another_turn_has_replaced_already_is_nobodys_fault_either(
    lazy: LazySession, used: MagicMock
) -> None:
    def replace() -> None:
        lazy._session = spark()

    assert kind_of_end(lazy, used, replace) == "spark lost"


def test_cancelling_a_turn_whose_jvm_died_starts_no_other(
    lazy: LazySession, used: MagicMock, monkeypatch: pytest.MonkeyPatch
) -> None:
    turn = Turn(lazy, MagicMock(), [MagicMock()], Limits())
    another = MagicMock()

    def job(*_: object) -> None:
        used.sparkContext._gateway.proc.poll.return_value = -9
        monkeypatch.setattr(lazy, "get", another)
        turn.cancel()
        raise ConnectionError("no answer")

    used.range.side_effect = job
    with pytest.raises(TurnBroken, match="cancelled"):
        turn.run()
    used.sparkContext.cancelJobsWithTag.assert_called_once()
    another.assert_not_called()
