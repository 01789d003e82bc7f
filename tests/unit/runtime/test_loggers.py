"""Log levels at run time: Kafka Connect's answers."""

from __future__ import annotations

import logging

import pytest

from penstock.runtime.errors import BadRequest, NotFound
from penstock.runtime.loggers import Loggers

pytestmark = pytest.mark.usefixtures("fresh_levels")


@pytest.fixture
def loggers() -> Loggers:
    return Loggers()


def test_all_are_sorted_and_unchanged(loggers: Loggers) -> None:
    found = loggers.all()
    assert list(found) == sorted(found)
    assert found["root"] == {"level": "INFO", "last_modified": None}
    assert found["py4j"] == {"level": "WARN", "last_modified": None}
    assert found["penstock.runtime.loggers"]["level"] == "INFO"


def test_a_change_is_for_everything_below_and_is_remembered(loggers: Loggers) -> None:
    logging.getLogger("penstock.sample.inner")
    changed = loggers.change("penstock.sample", "debug")
    assert changed == ["penstock.sample", "penstock.sample.inner"]
    inner = loggers.one("penstock.sample.inner")
    assert inner["level"] == "DEBUG"
    assert inner["last_modified"] > 1_700_000_000_000
    assert loggers.change("penstock.sample", "DEBUG") == []
    assert loggers.one("penstock.sample.inner") == inner
    assert loggers.one("root")["last_modified"] is None


def test_the_root_is_everything(loggers: Loggers) -> None:
    loggers.change("penstock.sample", "DEBUG")
    loggers.change("connector.orders", "TRACE")
    changed = loggers.change("root", "WARN")
    assert {"root", "penstock.sample"} <= set(changed)
    assert "connector.orders" not in loggers.all()
    assert "py4j" in loggers.change("root", "DEBUG")
    assert {entry["level"] for entry in loggers.all().values()} == {"DEBUG"}


def test_a_connector_s_level(loggers: Loggers) -> None:
    with pytest.raises(NotFound):
        loggers.one("connector.a.b")
    assert loggers.change("connector.a.b", "TRACE") == ["connector.a.b"]
    assert loggers.one("connector.a.b")["level"] == "TRACE"
    assert loggers.all()["connector.a.b"]["level"] == "TRACE"
    assert loggers.one("root")["level"] == "INFO"


@pytest.mark.parametrize("level", ["TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL", "OFF"])
def test_every_level(loggers: Loggers, level: str) -> None:
    loggers.change("some.connector", level.lower())
    assert loggers.one("some.connector")["level"] == level


def test_off_is_off(loggers: Loggers) -> None:
    loggers.change("some.connector", "OFF")
    assert not logging.getLogger("some.connector").isEnabledFor(logging.CRITICAL)


def test_what_is_refused(loggers: Loggers) -> None:
    with pytest.raises(NotFound, match=r"Logger no\.such not found\."):
        loggers.one("no.such")
    with pytest.raises(NotFound, match=r"invalid log level 'LOUD'\."):
        loggers.change("root", "LOUD")
    with pytest.raises(BadRequest, match=r"Desired 'level' parameter was not specified"):
        loggers.change("root", None)
    assert loggers.one("root")["level"] == "INFO"
