"""How a runner starts its connector, and what it says of it; without Kafka or Spark."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from pathlib import Path
from unittest.mock import MagicMock

import pytest

from penstock.engine.lease.lease import Limits
from penstock.logs.subject import stamp, subject_of
from penstock.runtime.config.worker_rules import Rules
from penstock.runtime.plugins import Plugin, Plugins
from penstock.runtime.running.runner import Runner
from penstock.runtime.running.scheduler import REST, TURN, Scheduler
from penstock.runtime.running.sink_runner import SinkRunner
from penstock.runtime.running.source_runner import SourceRunner
from penstock.runtime.states import State
from penstock.runtime.worker import Worker, WorkerConfig
from penstock.sdk.config import ConfigDef
from penstock.sdk.connectors import SinkConnector
from penstock.sdk.errors import ConfigError
from sample_connectors.hanging_source import HANGING_KEYS, HangingSourceConnector
from waiting import eventually

NAME = "lines"
CONVERTERS = {"key.converter": "JsonConverter", "value.converter": "JsonConverter"}


class EmptySink(SinkConnector):
    """A sink that does nothing."""

    config_def = ConfigDef()

    def start(self, config: Mapping[str, str]) -> None: ...

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        return []


@pytest.fixture
def context() -> MagicMock:
    context = MagicMock(scheduler=Scheduler(2))
    context.worker.limits.return_value = Limits()
    context.worker.__getitem__.return_value = 500
    context.worker.rules = Rules()
    context.worker.group_id = "group"
    context.worker.converters.return_value = CONVERTERS
    context.offsets.of.return_value = []
    context.configs.tasks.return_value = []
    context.connection.secrets.return_value = []
    context.statuses.task_ids.return_value = []
    context.plugins = Plugins({})
    return context


@pytest.fixture
def release(tmp_path: Path) -> Path:
    """The file that ends the hanging."""
    return tmp_path / "release"


def source(context: MagicMock, **keys: str) -> SourceRunner:
    config = {"topic": "t", **{key.replace("_", "."): value for key, value in keys.items()}}
    return SourceRunner(context, NAME, config, Plugin(HangingSourceConnector), HANGING_KEYS)


def shown(context: MagicMock) -> list[tuple[State, str | None]]:
    """What was said of the connector, in order."""
    statuses = [call.args[1] for call in context.statuses.put_connector.call_args_list]
    return [(status.state, status.trace) for status in statuses]


PROTOBUF = "io.confluent.connect.protobuf.ProtobufConverter"
NOT_THERE = "Class {0} could not be found."


@pytest.mark.parametrize(
    ("keys", "missing"),
    [
        ({"value_converter": PROTOBUF}, PROTOBUF),
        ({"transforms": "x", "transforms_x_type": "a.InsertField"}, "a.InsertField"),
    ],
)
def test_a_stored_config_with_a_class_that_is_not_there(
    context: MagicMock, keys: dict[str, str], missing: str
) -> None:
    """As Kafka Connect may have stored it."""
    runner = source(context, **keys)
    assert runner.look() == REST
    [(state, trace)] = shown(context)
    assert state is State.FAILED
    assert NOT_THERE.format(missing) in (trace or "")
    assert runner.look() == REST
    assert len(shown(context)) == 1


def test_a_stored_regex_that_cannot_be_used_here(context: MagicMock) -> None:
    config = {"topics.regex": "*"}
    runner = SinkRunner(context, NAME, config, Plugin(EmptySink), ConfigDef())
    assert runner.look() == REST
    [(state, trace)] = shown(context)
    assert state is State.FAILED
    assert "topics.regex: Invalid regex: nothing to repeat" in (trace or "")


def test_a_config_error_in_a_turn_fails_the_connector(
    context: MagicMock, monkeypatch: pytest.MonkeyPatch
) -> None:
    runner = source(context)
    monkeypatch.setattr(runner, "_sure_turn", MagicMock(side_effect=ConfigError("mind the key")))
    assert runner.turn() == REST
    assert shown(context) == [(State.FAILED, "ConfigError: mind the key")]


def test_a_worker_whose_own_converter_is_not_there_does_not_start(tmp_path: Path) -> None:
    worker = Worker(WorkerConfig.from_properties({"value.converter": PROTOBUF}, tmp_path))
    with pytest.raises(ConfigError, match=f"value.converter: {NOT_THERE.format(PROTOBUF)}"):
        worker.start()


def test_a_start_that_is_merely_slow_is_waited_for_by_the_next_runner(
    context: MagicMock, release: Path
) -> None:
    slow = source(context, hang_in="start", hang_until=str(release))
    thread = threading.Thread(target=slow.look)
    thread.start()
    eventually(slow._activity.locked, within=20, what="the call")
    slow.halt()
    next_one = source(context)
    assert next_one.look().delay == 0.5
    assert shown(context) == []
    release.touch()
    thread.join(20)
    assert next_one.look() == TURN
    assert [state for state, _ in shown(context)] == [State.RUNNING]


def test_a_start_that_fails_after_it_was_halted_says_nothing(
    context: MagicMock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another runner, or nobody, has the connector by then."""
    runner = source(context)

    def fails_late(*_: object) -> None:
        runner._halted.set()
        raise RuntimeError("no such host")

    monkeypatch.setattr(HangingSourceConnector, "start", fails_late)
    assert runner.look() == REST
    assert shown(context) == []


def test_what_is_halted_while_its_tasks_are_stored_is_not_shown_as_running(
    context: MagicMock,
) -> None:
    runner = source(context)
    context.put_tasks.side_effect = lambda *_: runner._halted.set()
    assert runner.look() == REST
    assert shown(context) == []
    context.statuses.put_task.assert_not_called()


def test_what_was_given_up_takes_no_turn(context: MagicMock) -> None:
    runner: Runner = source(context)
    assert runner.look() == TURN
    runner._give_up(RuntimeError("callback does not return"))
    assert runner.turn() == REST
    context.membership.assert_not_called()
    assert [state for state, _ in shown(context)] == [State.RUNNING, State.FAILED]


def test_whoever_gives_a_connector_up_logs_that_about_it(
    context: MagicMock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The thread that watches over all callbacks is about nobody."""
    told: list[object] = []
    runner = source(context)
    monkeypatch.setattr(
        runner, "_fail_connector", lambda _: told.append(subject_of(stamp(log_record())))
    )
    runner._give_up(RuntimeError("callback does not return"))
    assert told == [(NAME, None)]


def log_record() -> logging.LogRecord:
    return logging.LogRecord("penstock", logging.WARNING, "", 0, "", None, None)
