"""What a runner verifies before it hands over leases, and what it leaves alone meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from unittest.mock import MagicMock

import pytest

from penstock.engine.carriers.carrier import Cause
from penstock.engine.carriers.orders import encode_report
from penstock.engine.lease.lease import End, Limits, Report
from penstock.runtime.config.worker_rules import Rules
from penstock.runtime.meters.metrics import Metrics
from penstock.runtime.plugins import Plugin, Plugins
from penstock.runtime.running import runner as runner_module
from penstock.runtime.running.scheduler import Scheduler
from penstock.runtime.running.source_runner import SourceRunner
from sample_connectors.scripted_source import KEYS, ScriptedSourceConnector

CONVERTERS = {"key.converter": "JsonConverter", "value.converter": "JsonConverter"}


class Kafka:
    """Remembers which tasks were fenced."""

    def __init__(self) -> None:
        self.fenced: list[list[int]] = []

    def some(self, _context: object, _name: str, tasks: set[int]) -> None:
        self.fenced.append(sorted(tasks))

    def all(self, _context: object, _name: str, count: int) -> None:
        self.fenced.append(list(range(count)))


@pytest.fixture
def kafka(monkeypatch: pytest.MonkeyPatch) -> Kafka:
    kafka = Kafka()
    monkeypatch.setattr(runner_module, "fence_some", kafka.some)
    monkeypatch.setattr(runner_module, "fence_tasks", kafka.all)
    return kafka


@pytest.fixture
def context() -> Iterator[MagicMock]:
    context = MagicMock(scheduler=Scheduler(2), metrics=Metrics(), plugins=Plugins({}))
    context.worker.limits.return_value = Limits()
    context.worker.__getitem__.return_value = 500
    context.worker.rules = Rules()
    context.worker.group_id = "group"
    context.worker.converters.return_value = CONVERTERS
    context.worker.clients.of.return_value = {}
    context.offsets.of.return_value = []
    context.configs.tasks.return_value = []
    context.configs.fenced_tasks.return_value = 0
    context.connection.secrets.return_value = []
    context.statuses.task_ids.return_value = []
    yield context
    context.scheduler.stop()


@pytest.fixture
def runner(context: MagicMock, kafka: Kafka) -> SourceRunner:
    """With two tasks, both of which have a lease."""
    config = {"topic": "t", "tasks.max": "2", "name": "numbers"}
    runner = SourceRunner(context, "numbers", config, Plugin(ScriptedSourceConnector), KEYS)
    runner.look()
    runner.turn()
    assert kafka.fenced == [[0, 1]]
    assert len(handed(context)) == 2
    return runner


def handed(context: MagicMock) -> list[str]:
    return [call.args[0].lease_id for call in context.engine.run.call_args_list]


def tasks_handed(context: MagicMock) -> list[int]:
    return [call.args[0].task for call in context.engine.run.call_args_list]


def test_a_lost_lease_starts_again_alone_after_its_own_id_was_fenced(
    runner: SourceRunner, context: MagicMock, kafka: Kafka
) -> None:
    runner._leases.lost(handed(context)[1], Cause.EXECUTOR_LOST, "")
    assert runner.look().turn
    runner.turn()
    assert kafka.fenced == [[0, 1], [1]]
    assert tasks_handed(context) == [0, 1, 1]
    assert not context.engine.fleet.finish.called, "its sibling is left alone"


def test_a_doubt_waits_until_all_leases_have_ended(
    runner: SourceRunner, context: MagicMock, kafka: Kafka
) -> None:
    runner.doubt()
    assert context.engine.fleet.finish.call_count == 2
    first, second = handed(context)
    runner._leases.reported(first, encode_report(Report(0, first, End.DONE, records=1)))
    assert not runner.look().turn
    runner.turn()
    assert kafka.fenced == [[0, 1]], "a lease still runs: fencing its id would lose it"
    runner._leases.reported(second, encode_report(Report(1, second, End.DONE, records=1)))
    assert runner.look().turn
    runner.turn()
    assert kafka.fenced == [[0, 1], [0, 1]]
    assert tasks_handed(context) == [0, 1, 0, 1]


def test_a_doubt_that_is_raised_during_a_recovery_stays(
    runner: SourceRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "_read_positions", runner.doubt)
    runner._recover()
    assert runner.unsure


def tell(runner: SourceRunner, lease: str, transactions: int) -> None:
    runner._leases.progressed(lease, {"tally": {"transactions": transactions}, "active": 0})


def test_a_new_generation_ends_only_leases_that_have_not_committed(
    runner: SourceRunner, context: MagicMock, kafka: Kafka
) -> None:
    first, second = handed(context)
    tell(runner, first, 1)
    tell(runner, second, 0)
    runner.renew()
    assert [call.args for call in context.engine.fleet.finish.call_args_list] == [(second,)]
    runner._leases.reported(second, encode_report(Report(1, second, End.DONE)))
    assert runner.look().turn, "its positions are to be verified"
    runner.turn()
    assert kafka.fenced == [[0, 1], [1]], "the other runs on"
    assert tasks_handed(context) == [0, 1, 1]


def test_what_has_run_through_a_new_generation_is_verified_when_it_ends(
    runner: SourceRunner, context: MagicMock, kafka: Kafka
) -> None:
    for lease in handed(context):
        tell(runner, lease, 1)
    runner.renew()
    runner.turn()
    assert kafka.fenced == [[0, 1]]
    first = handed(context)[0]
    runner._leases.reported(first, encode_report(Report(0, first, End.DONE, records=1)))
    assert runner.look().turn
    runner.turn()
    assert kafka.fenced == [[0, 1], [0]]
    assert tasks_handed(context) == [0, 1, 0]
    assert context.engine.run.call_args.args[0].previous is None, "its producer was fenced"


def test_a_connector_that_now_belongs_to_another_worker_is_left_to_it(
    runner: SourceRunner, context: MagicMock, kafka: Kafka
) -> None:
    runner.renew()
    second = handed(context)[1]
    runner._leases.reported(second, encode_report(Report(1, second, End.DONE)))
    context.still_wanted.return_value = False
    runner.look()
    runner.turn()
    assert kafka.fenced == [[0, 1]]
    assert tasks_handed(context) == [0, 1]


@pytest.mark.parametrize("wanted", [True, False])
def test_a_lease_begins_only_while_its_connector_is_this_workers(
    runner: SourceRunner, context: MagicMock, wanted: bool
) -> None:
    context.alone.return_value = False
    context.still_wanted.return_value = wanted
    runner._leases.asked(handed(context)[0])
    runner.look()
    assert context.engine.fleet.confirm.called is wanted


def test_a_task_that_hangs_twice_fails_and_blocks_nobody(
    runner: SourceRunner, context: MagicMock
) -> None:
    for _ in range(2):
        lease = handed(context)[-1]
        runner._leases._handed[lease].hangs = True
        runner._leases.lost(lease, Cause.CONDEMNED, "")
        runner.look()
        runner.turn()
    assert list(runner.failed) == [1]
    assert tasks_handed(context) == [0, 1, 1]
    assert context.engine.run.call_args.args[0].limits.lease_seconds == 5.0
    assert runner.look().delay == runner_module.CHECK_SECONDS, "the other runs on"
