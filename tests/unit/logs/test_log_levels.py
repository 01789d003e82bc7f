"""Which lines are kept, and how levels are called."""

from __future__ import annotations

import logging

import pytest

from penstock.logs.levels import Kept, Levels, in_use, level_name, use
from penstock.logs.subject import about

DEBUG, INFO, WARN = logging.DEBUG, logging.INFO, logging.WARNING


@pytest.mark.parametrize(
    ("number", "name"),
    [
        (1, "TRACE"),
        (5, "TRACE"),
        (10, "DEBUG"),
        (25, "INFO"),
        (30, "WARN"),
        (40, "ERROR"),
        (50, "FATAL"),
        (100, "OFF"),
    ],
)
def test_names(number: int, name: str) -> None:
    assert level_name(number) == name


def test_a_logger_goes_by_the_nearest_level() -> None:
    levels = Levels(WARN, {"a": INFO, "a.b.c": DEBUG})
    found = {name: levels.least(name, None) for name in ("a", "a.b", "a.b.c.d", "ab", "z")}
    assert found == {"a": INFO, "a.b": INFO, "a.b.c.d": DEBUG, "ab": WARN, "z": WARN}


def test_a_connector_s_level_is_used_in_place_of_the_root_s() -> None:
    levels = Levels(INFO, {"own": WARN}).changed("connector.orders", DEBUG)
    assert levels.least("x.y", "orders") == DEBUG
    assert levels.least("x.y", "others") == INFO
    assert levels.least("x.y", None) == INFO
    assert levels.least("own.z", "orders") == WARN
    quiet = levels.changed("connector.orders", WARN)
    assert quiet.least("x", "orders") == WARN
    alone = levels.for_connector("orders")
    assert (alone.root, alone.connectors, alone.version) == (DEBUG, {}, levels.version)


def test_a_level_is_for_everything_below() -> None:
    levels = Levels(INFO, {"a": WARN, "a.b": DEBUG, "ab": DEBUG, "httpx": WARN})
    below = {"a": INFO, "a.b": INFO, "ab": DEBUG, "httpx": WARN}
    assert levels.changed("a", INFO).loggers == below
    everything = levels.changed("connector.c", DEBUG).changed("root", WARN)
    assert (everything.root, everything.loggers, everything.connectors) == (
        WARN,
        {"a": WARN, "a.b": WARN, "ab": WARN, "httpx": WARN},
        {},
    )
    assert everything.version == 2


@pytest.mark.usefixtures("fresh_levels")
def test_levels_in_use(caplog: pytest.LogCaptureFixture) -> None:
    quiet, loud = logging.getLogger("levels.quiet"), logging.getLogger("levels.loud")
    use(Levels(INFO).changed("levels.loud", DEBUG).changed("connector.orders", DEBUG))
    with caplog.filtering(Kept()):
        quiet.debug("nobody's")
        quiet.info("info")
        loud.debug("loud")
        with about("orders"):
            quiet.debug("about orders")
        with about("others"):
            quiet.debug("about others")
    assert caplog.messages == ["info", "loud", "about orders"]
    use(in_use().changed("root", INFO))
    loud.debug("no more")
    assert not loud.isEnabledFor(DEBUG)


@pytest.mark.usefixtures("fresh_levels")
def test_talkative_libraries_are_quiet_until_they_or_all_are_named() -> None:
    talkative = logging.getLogger("py4j.clientserver")
    use(in_use().changed("penstock", DEBUG))
    assert not talkative.isEnabledFor(INFO)
    use(in_use().changed("py4j", DEBUG))
    assert talkative.isEnabledFor(DEBUG)
    use(in_use().changed("root", WARN))
    assert not talkative.isEnabledFor(INFO)
    use(in_use().changed("root", INFO))
    assert talkative.isEnabledFor(INFO)


@pytest.mark.parametrize(
    ("path", "kept"), [("/env/py4j/java_gateway.py", False), ("/env/mine/py4j.py", True)]
)
def test_what_py4j_tells_the_root_logger_has_py4js_level(*, path: str, kept: bool) -> None:
    record = logging.LogRecord("root", logging.INFO, path, 1, "Exception while ...", None, None)
    assert Levels().keeps(record) is kept
