"""When a read without a name tells that the brokers are gone, and when it ends."""

from __future__ import annotations

import io
from typing import Any, cast
from unittest.mock import Mock

import pytest
import typer

from clocks import Clock
from penstock.cli import consume
from penstock.cli.beginning import Beginning, refuse_behind
from penstock.cli.consume_output import Ending, Pump, Rows
from penstock.cli.record_printing import print_raw
from penstock.cli.signals import StoppingSignals
from penstock.cli.silence import GIVEN_UP_SECONDS, QUIET_SECONDS, TOLD_SECONDS, Silence
from penstock.consumers import Consumer, Offset
from penstock.kafka.clients import Connection
from penstock.kafka.errors import BrokerUnavailable

Told = pytest.CaptureFixture[str]


class Brokers:
    """Answer or do not, which takes its time."""

    def __init__(self) -> None:
        self.there = True
        self.asked = 0
        self.clock = Clock()

    def __call__(self) -> bool:
        self.asked += 1
        self.clock.now += 0 if self.there else 1
        return self.there

    def silence(self, *, limited: bool) -> Silence:
        return Silence(self, "here:9092", limited=limited, clock=self.clock)


@pytest.fixture
def brokers() -> Brokers:
    return Brokers()


def waits(silence: Silence, brokers: Brokers, seconds: float) -> None:
    end = brokers.clock.now + seconds
    while brokers.clock.now < end:
        silence.goes_on()
        brokers.clock.now += 0.5


def test_a_topic_to_which_nobody_writes(brokers: Brokers, capsys: Told) -> None:
    silence = brokers.silence(limited=True)
    waits(silence, brokers, QUIET_SECONDS)
    assert brokers.asked == 0
    waits(silence, brokers, 10 * GIVEN_UP_SECONDS)
    assert 0 < brokers.asked <= 10 * GIVEN_UP_SECONDS / QUIET_SECONDS + 1
    assert capsys.readouterr().err == ""


def test_brokers_that_are_gone_are_told_of_once(brokers: Brokers, capsys: Told) -> None:
    silence, brokers.there = brokers.silence(limited=False), False
    waits(silence, brokers, QUIET_SECONDS + TOLD_SECONDS - 1)
    assert capsys.readouterr().err == ""
    waits(silence, brokers, 10 * GIVEN_UP_SECONDS)
    (told,) = capsys.readouterr().err.splitlines()
    assert told.startswith("no answer from the brokers at here:9092 since ")
    assert told.endswith("; still trying")
    brokers.there = True
    waits(silence, brokers, 10)
    assert capsys.readouterr().err == "the brokers answer again\n"


def test_a_read_with_an_end_is_given_up(brokers: Brokers, capsys: Told) -> None:
    silence, brokers.there = brokers.silence(limited=True), False
    waits(silence, brokers, QUIET_SECONDS + GIVEN_UP_SECONDS - 2)
    assert "still trying" in capsys.readouterr().err
    with pytest.raises(BrokerUnavailable, match=r"No Kafka broker at here:9092 has answered"):
        waits(silence, brokers, 5)


def test_whoever_was_away_itself_does_not_give_up_at_once(brokers: Brokers, capsys: Told) -> None:
    silence, brokers.there = brokers.silence(limited=True), False
    brokers.clock.now += 100 * GIVEN_UP_SECONDS
    silence.goes_on()
    brokers.there = True
    silence.goes_on()
    assert capsys.readouterr().err == ""


def test_records_break_it(brokers: Brokers) -> None:
    silence = brokers.silence(limited=True)
    for _ in range(100):
        brokers.clock.now += QUIET_SECONDS - 1
        silence.goes_on()
        silence.broken()
    assert brokers.asked == 0


def test_it_is_told_whether_something_has_come() -> None:
    source = Mock(take=Mock(side_effect=[[], [], [Mock(value=b"x")], [], None]))
    silence = Mock()
    pump = Pump(cast(Consumer, source), Rows(lambda _: b""), io.BytesIO(), silence=silence)
    assert pump.run(StoppingSignals()) is Ending.DONE
    told = [name for name, *_ in silence.method_calls]
    assert told == ["goes_on", "goes_on", "broken", "goes_on"]


def test_a_read_that_is_given_up_is_no_end_like_another() -> None:
    silence = Mock(goes_on=Mock(side_effect=BrokerUnavailable("gone")))
    pump = Pump(cast(Consumer, Mock(take=lambda *_, **__: [])), Rows(print_raw), io.BytesIO())
    pump.silence = silence
    with pytest.raises(BrokerUnavailable, match="gone"):
        pump.run(StoppingSignals())


@pytest.fixture
def places(monkeypatch: pytest.MonkeyPatch) -> dict[int, int]:
    """Where partitions would be begun, as the test says."""
    found: dict[int, int] = {}

    class FakeRanges:
        first = found

        def __init__(self, *_: Any) -> None:
            pass

        def offsets(self, *_: Any) -> dict[int, int]:
            return found

    monkeypatch.setattr("penstock.consumers.reading.starting.Ranges", FakeRanges)
    monkeypatch.setattr("penstock.consumers.topic.find_topic", Mock())
    monkeypatch.setattr("penstock.kafka.clients.admin", Mock())
    return found


TAIL = Beginning(Offset.from_end(2), "2 from the end", "-T")


def test_an_end_before_every_start_is_refused(places: dict[int, int]) -> None:
    places |= {0: 8, 1: 6}
    with pytest.raises(
        typer.BadParameter, match=r"--end 5 lies before .* 2 from the end.* offset 6"
    ):
        refuse_behind(5, TAIL, Connection("x:1"), "t", ())
    refuse_behind(6, TAIL, Connection("x:1"), "t", ())


@pytest.mark.parametrize(("name", "refused"), [(None, True), ("c", False)])
def test_only_without_a_name(
    places: dict[int, int], monkeypatch: pytest.MonkeyPatch, name: str | None, refused: bool
) -> None:
    places |= {0: 8}

    class OpenedError(Exception):
        """As far as this test goes."""

    monkeypatch.setattr(consume, "reached", lambda *_: Connection("x:1"))
    monkeypatch.setattr(consume, "_opened", Mock(side_effect=OpenedError))
    with pytest.raises(typer.BadParameter if refused else OpenedError):
        consume.consume("t", name=name, tail=2, end=5)
