"""What a log line says: its connector and task, every line of it, and never a secret."""

from __future__ import annotations

import io
import json
import logging
import re
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from penstock.logs.forms import JsonForm, ScreenForm, TextForm
from penstock.logs.levels import Kept
from penstock.logs.secrets import hidden_from, hide, scrub
from penstock.logs.subject import about

Lines = Callable[[], list[str]]
TIME = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}"


pytestmark = pytest.mark.usefixtures("fresh_levels")


@pytest.fixture
def logger(name: str) -> logging.Logger:
    return logging.getLogger(f"test.{name}")


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    return str(request.node.name)


def written(logger: logging.Logger, form: logging.Formatter) -> Iterator[Lines]:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(form)
    handler.addFilter(Kept())
    logger.addHandler(handler)
    yield lambda: stream.getvalue().split("\n")[:-1]
    logger.removeHandler(handler)


@pytest.fixture
def text(logger: logging.Logger) -> Iterator[Lines]:
    yield from written(logger, TextForm())


@pytest.fixture
def as_json(logger: logging.Logger) -> Iterator[Lines]:
    yield from written(logger, JsonForm())


@pytest.fixture
def screen(logger: logging.Logger) -> Iterator[Lines]:
    yield from written(logger, ScreenForm())


def raise_and_log(logger: logging.Logger, word: str) -> None:
    try:
        raise ValueError(f"bad {word}")
    except ValueError:
        logger.exception("it failed")


def test_a_line_of_text(logger: logging.Logger, text: Lines, name: str) -> None:
    with about("orders", 0):
        logger.info("moved %d", 5)
    [line] = text()
    assert re.fullmatch(rf"{TIME} INFO \[orders\|task-0\] test\.{name}: moved 5", line)


def test_what_a_line_is_about_nests_and_ends(logger: logging.Logger, text: Lines) -> None:
    logger.info("none")
    with about("a"):
        logger.info("connector")
        with about("b", 3):
            logger.info("task")
        logger.warning("connector again")
    logger.info("none again")
    found = [re.search(r"([A-Z]+) \[(.*?)\]", line) for line in text()]
    assert [match and match.groups() for match in found] == [
        ("INFO", "worker"),
        ("INFO", "a|worker"),
        ("INFO", "b|task-3"),
        ("WARN", "a|worker"),
        ("INFO", "worker"),
    ]


def test_threads_have_subjects_of_their_own(logger: logging.Logger, text: Lines) -> None:
    both = threading.Barrier(2)

    def work(connector: str) -> None:
        with about(connector):
            both.wait(5)
            logger.info("from %s", connector)

    with about("outer"), ThreadPoolExecutor(2) as pool:
        list(pool.map(work, ["a", "b"]))
        pool.submit(logger.info, "from a thread that nobody told").result()
    lines = sorted(line.partition(" INFO ")[2] for line in text())
    assert [line.partition("]")[0] for line in lines] == ["[a|worker", "[b|worker", "[worker"]


def test_each_line_of_a_long_message_says_what_it_is_about(
    logger: logging.Logger, text: Lines
) -> None:
    with about("orders", 1):
        logger.info("one\ntwo\r\n2026-11-16 10:00:00,000 INFO [forged|task-0] x: three\u2028four")
        raise_and_log(logger, "luck")
    lines = text()
    assert len(lines) > 6
    assert all(re.match(rf"{TIME} (INFO|ERROR) \[orders\|task-1\] ", line) for line in lines)
    assert lines[-1].endswith("ValueError: bad luck")


def test_json_is_one_line_each(logger: logging.Logger, as_json: Lines, name: str) -> None:
    with about("orders", 2):
        logger.warning("one\ntwo \u2028 %s", "ü")
        raise_and_log(logger, "luck")
    logger.info("plain")
    first, second, third = (json.loads(line) for line in as_json())
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", first.pop("time"))
    assert first == {
        "level": "WARN",
        "logger": f"test.{name}",
        "thread": "MainThread",
        "connector": "orders",
        "task": 2,
        "message": "one\ntwo \u2028 ü",
        "exception": None,
    }
    assert second["message"] == "it failed"
    assert second["exception"].startswith("Traceback")
    assert second["exception"].endswith("ValueError: bad luck")
    assert (third["connector"], third["task"]) == (None, None)


def test_the_screen_gets_one_line_without_traceback(logger: logging.Logger, screen: Lines) -> None:
    logger.warning("one\ntwo")
    with about("orders"):
        raise_and_log(logger, "luck")
    assert screen() == [
        "WARNING: one",
        "ERROR: [orders|worker] it failed: ValueError: bad luck",
    ]


def test_arguments_that_do_not_fit_do_not_lose_the_line(
    logger: logging.Logger, text: Lines
) -> None:
    logger.propagate = False  # pytest's own handler would raise
    logger.info("%d of them", "many")
    assert text()[0].endswith("%d of them ('many',)")


@pytest.mark.parametrize("form", ["text", "as_json", "screen"])
def test_secrets_are_hidden(
    logger: logging.Logger, request: pytest.FixtureRequest, form: str
) -> None:
    lines = request.getfixturevalue(form)
    hide(["hunter2"], "orders")
    hide(["broker-key"])
    with about("orders", 0):
        logger.error("with hunter2 and broker-key")
        raise_and_log(logger, "hunter2")
    logger.error("about none: hunter2")
    said = "\n".join(lines())
    assert "[hidden]" in said
    assert "hunter2" not in said
    assert "broker-key" not in said


def test_which_secrets_are_hidden_where() -> None:
    hide(["a1", "long one"], "a")
    hide(["b1"], "b")
    hide(["worker"])
    assert set(hidden_from("a")) == {"a1", "long one", "worker"}
    assert set(hidden_from("unknown")) == {"worker"}
    assert set(hidden_from(None)) == {"long one", "worker"}
    hide(["other"], "a")
    assert "a1" not in hidden_from("a")


def test_a_secret_that_holds_another_is_hidden_whole() -> None:
    assert scrub("abcdef abc", ["abc", "abcdef", ""]) == "[hidden] [hidden]"
