"""However a frame turn ends, its worker hears of it, once."""

from __future__ import annotations

import threading
from unittest.mock import MagicMock

import pytest

from penstock.engine.carriers.carrier import Cause
from penstock.engine.driver.frame_turns import FrameTurns, TurnDone


def ended(session: MagicMock, turn: MagicMock) -> TurnDone:
    """How a turn ended."""
    told: list[TurnDone] = []
    over = threading.Event()

    def done(how: TurnDone) -> None:
        told.append(how)
        over.set()

    FrameTurns(session, MagicMock(), "").begin(turn, lambda: True, done)
    assert over.wait(20)
    [how] = told
    return how


@pytest.mark.parametrize("raised", [ValueError, SystemExit, KeyboardInterrupt])
def test_whatever_a_connector_raises_is_its_own_error(raised: type[BaseException]) -> None:
    turn = MagicMock(connector="c")
    turn.run.side_effect = raised("on request")
    how = ended(MagicMock(), turn)
    assert how.cause is None
    assert isinstance(how.error, Exception)
    assert "on request" in str(how.error)
    assert raised is ValueError or raised.__name__ in str(how.error)


def test_a_spark_that_ends_meanwhile_leaves_no_turn_without_an_end() -> None:
    session = MagicMock()
    session.lost_executors.side_effect = ConnectionError("the JVM does not answer")
    how = ended(session, MagicMock(connector="c"))
    assert (how.cause, how.error) == (Cause.VANISHED, None)
    assert "does not answer" in how.detail
