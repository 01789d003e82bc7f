"""The page for Prometheus: what Strimzi's dashboard and alerts ask for, with true numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import product
from types import SimpleNamespace
from typing import Any, cast

import pytest
from confluent_kafka.admin import AdminClient

from clocks import Clock
from penstock.engine.carriers.carrier import CarrierSeen
from penstock.engine.carriers.link import Vitals
from penstock.engine.lease.lease import End, Report
from penstock.engine.lease.tally import Tally
from penstock.kafka.clients import Connection
from penstock.kafka.errors import BrokerUnavailable
from penstock.runtime.cluster.rebalances import Rebalances
from penstock.runtime.meters.loss_reasons import Reason
from penstock.runtime.meters.metrics import Metrics
from penstock.runtime.plugins import Plugins
from penstock.runtime.running.context import Context
from penstock.runtime.states import State, Status
from penstock.runtime.stores.status_store import StatusStore
from penstock.runtime.views.metrics_text import MetricsText
from penstock.runtime.views.metrics_view import MetricsView
from penstock.runtime.views.sink_lags import PartitionLag
from penstock.runtime.views.watched import Watch
from project_scripts import ROOT

DOCUMENT = ROOT / "docs/metrics.md"
HERE = "w:1"
SOURCE = "org.apache.kafka.connect.file.FileStreamSourceConnector"
CLASSES = {"lines": "FileStreamSource", "out": "FileStreamSink", 'o"dd': "gone.Connector"}
# Of Strimzi's dashboard and alert rules for Kafka Connect: all but the metrics of Java and of
# Kafka's Java clients, which a worker here does not have.
WATCHED_BY_STRIMZI = {
    "kafka_connect_worker_connector_count",
    "kafka_connect_worker_task_count",
    "kafka_connect_coordinator_assigned_connectors",
    "kafka_connect_coordinator_assigned_tasks",
    "kafka_connect_worker_rebalance_rebalancing",
    "kafka_connect_worker_connector_paused_task_count",
    "kafka_connect_worker_connector_failed_task_count",
    "kafka_connect_worker_connector_unassigned_task_count",
    "kafka_connect_worker_connector_destroyed_task_count",
    "kafka_connect_worker_connector_running_task_count",
    "kafka_connect_connector_status",
    "kafka_connect_connector_connector_class",
    "kafka_connect_connector_connector_version",
    "kafka_connect_connector_connector_type",
    "kafka_connect_task_error_total_record_failures",
    "kafka_connect_connector_task_status",
}


CARRIERS = [
    CarrierSeen(1, "shared carrier 1", ("out-0", "other-0"), Vitals(3.5, 1024, 9)),
    CarrierSeen(2, "carrier of lines-1", ("lines-1",), Vitals(60.0, 2048, 7)),
]


def no_broker() -> Any:
    raise BrokerUnavailable("nobody answers")


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def context(clock: Clock) -> Context:
    statuses = StatusStore(Connection("nowhere:1"), cast(AdminClient, None), "status", 1)
    for name in CLASSES:
        statuses.put_connector(name, Status(State.RUNNING, HERE))
    statuses.put_task("lines", 0, Status(State.RUNNING, HERE))
    statuses.put_task("lines", 1, Status(State.FAILED, HERE, trace="why"))
    statuses.put_task("out", 0, Status(State.PAUSED, HERE))
    made: Any = SimpleNamespace(
        worker_id=HERE,
        statuses=statuses,
        plugins=Plugins(),
        metrics=Metrics(clock),
        generation=lambda: 3,
        copies=SimpleNamespace(of=lambda _: {}),
        offsets=SimpleNamespace(
            of=lambda _: [(b"k", {"filename": "f"}, {"position": 5, "identity": "x"})] * 150
        ),
        ends=SimpleNamespace(topics=no_broker),
        engine=SimpleNamespace(
            fleet=SimpleNamespace(moves=2, losses=7, seen=lambda: CARRIERS),
            session=SimpleNamespace(
                application=SimpleNamespace(id="local-1", ui="http://127.0.0.1:4040")
            ),
        ),
        configs=SimpleNamespace(
            names=lambda: [*CLASSES, "without-status"],
            config=lambda name: {"connector.class": CLASSES[name]} if name in CLASSES else None,
        ),
    )
    return cast(Context, made)


def samples(page: str) -> dict[str, float]:
    """Every sample by its name and labels; fails where a line is none."""
    lines = [line for line in page.splitlines() if not line.startswith("#")]
    assert all(re.fullmatch(r'[a-z_]+(\{([a-z_]+="[^\n]*",?)+\})? \S+', line) for line in lines)
    found = [line.rpartition(" ") for line in lines]
    assert len({name for name, _, _ in found}) == len(found)
    return {name: float(value) for name, _, value in found}


def page_of(
    context: Context,
    *,
    settled: bool = True,
    leader: str | None = "http://w:1",
    rebalances: Rebalances | None = None,
) -> str:
    group = SimpleNamespace(
        settled=lambda: settled,
        leader_url=lambda: leader,
        rebalances=rebalances or Rebalances(),
    )
    return MetricsText(context, Watch(context, lambda _: None), group).page()


def moved(context: Context, name: str, task: int, tally: Tally, end: End = End.DONE) -> None:
    meter = context.metrics.of(name).task(task)
    meter.begin("lease")
    meter.end(Report(task, "lease", end, tally=tally))


def test_everything_that_strimzi_watches_is_there(context: Context) -> None:
    names = {name.partition("{")[0] for name in samples(page_of(context))}
    assert names >= WATCHED_BY_STRIMZI


def test_carriers_and_what_they_run(context: Context) -> None:
    found = samples(page_of(context))
    shared, own = (f'{{carrier="{each.number}",name="{each.name}"}}' for each in CARRIERS)
    assert found["penstock_carriers"] == 2
    assert found["penstock_carrier_moves_total"] == 2
    assert found["penstock_carrier_lost_leases_total"] == 7
    assert found[f"penstock_carrier_leases{shared}"] == 2
    assert found[f"penstock_carrier_leases{own}"] == 1
    assert found[f"penstock_carrier_cpu_seconds_total{own}"] == 60.0
    assert found[f"penstock_carrier_memory_bytes{shared}"] == 1024
    tasks = MetricsView(context, Watch(context, lambda _: None)).metrics("lines")["tasks"]
    assert [task["carrier"] for task in tasks] == [None, "carrier of lines-1"]


def test_sparks_application_of_connectors_that_run_here(context: Context) -> None:
    view = MetricsView(context, Watch(context, lambda _: None))
    shown = view.metrics("lines")
    assert shown["spark_application_id"] == "local-1"
    assert shown["spark_ui"] == "http://127.0.0.1:4040"
    context.statuses.put_connector("lines", Status(State.RUNNING, "elsewhere:8083", generation=9))
    assert not {"spark_application_id", "spark_ui"} & set(view.metrics("lines"))


def test_states_and_counts(context: Context) -> None:
    found = samples(page_of(context))
    assert found["kafka_connect_worker_connector_count"] == 3
    assert found["kafka_connect_worker_task_count"] == 3
    assert found['kafka_connect_worker_connector_failed_task_count{connector="lines"}'] == 1
    assert found['kafka_connect_worker_connector_running_task_count{connector="lines"}'] == 1
    assert found['kafka_connect_worker_connector_paused_task_count{connector="out"}'] == 1
    assert found['kafka_connect_connector_status{connector="lines",status="running"}'] == 1
    status = "kafka_connect_connector_task_status"
    assert found[status + '{connector="lines",task="1",status="failed"}'] == 1
    kind = "kafka_connect_connector_connector_class"
    assert found[f'{kind}{{connector="lines",connector_class="{SOURCE}"}}'] == 1
    assert found[kind + '{connector="o\\"dd",connector_class="gone.Connector"}'] == 1
    assert found["kafka_connect_worker_rebalance_rebalancing"] == 0
    assert found["kafka_connect_worker_rebalance_epoch"] == 3


def test_a_worker_out_of_its_group_is_rebalancing(context: Context) -> None:
    assert samples(page_of(context, settled=False))["kafka_connect_worker_rebalance_rebalancing"]


def test_what_is_known_of_rebalances(context: Context, clock: Clock) -> None:
    rebalances = Rebalances(clock)
    times = {"rebalance_avg_time_ms", "rebalance_max_time_ms", "time_since_last_rebalance_ms"}
    prefix = "kafka_connect_worker_rebalance_"
    before = samples(page_of(context, rebalances=rebalances, leader=None))
    assert before[f"{prefix}completed_rebalances_total"] == 0
    assert not {f"{prefix}{name}" for name in times} & before.keys()
    assert "leader_name" not in "".join(before)
    for seconds in (1, 3):
        rebalances.begin()
        clock.now += seconds
        rebalances.begin()
        rebalances.end()
        rebalances.end()
    clock.now += 5
    found = samples(page_of(context, rebalances=rebalances))
    assert found[f"{prefix}completed_rebalances_total"] == 2
    assert [found[prefix + name] for name in sorted(times)] == [2000, 3000, 5000]
    assert found[prefix + 'leader_name{leader_name="http://w:1"}'] == 1


def test_startups_are_counted_for_the_worker(context: Context) -> None:
    connectors, tasks = context.metrics.connector_startups, context.metrics.task_startups
    connectors.begin().failed()
    later = connectors.begin()
    later.succeeded()
    later.failed()
    tasks.begin()
    found = samples(page_of(context))
    prefix = "kafka_connect_worker_"
    words = ("attempts", "success", "failure")
    assert [found[f"{prefix}connector_startup_{word}_total"] for word in words] == [2, 1, 1]
    assert [found[f"{prefix}task_startup_{word}_total"] for word in words] == [1, 0, 0]
    connectors.begin().failed()
    connectors.begin().failed()
    found = samples(page_of(context))
    assert found[f"{prefix}connector_startup_success_percentage"] == 0.25
    assert found[f"{prefix}connector_startup_failure_percentage"] == 0.75
    assert "task_startup_success_percentage" not in "".join(found), "none is decided"


@pytest.mark.parametrize(
    ("end", "outcome"),
    [(End.DONE, (1, 0)), (End.FAILED, (0, 1)), (End.LOST, (0, 0))],
)
def test_a_task_is_started_once_a_lease_of_it_has_gone_well(
    context: Context, end: End, outcome: tuple[int, int]
) -> None:
    startups, meter = context.metrics.task_startups, context.metrics.of("lines").task(0)
    meter.startup = startups.begin()
    moved(context, "lines", 0, Tally(), end)
    if end is End.FAILED:
        meter.note_failure()
    assert (startups.successes, startups.failures) == outcome


def test_a_task_that_has_taken_records_had_been_started(context: Context) -> None:
    startups, meter = context.metrics.task_startups, context.metrics.of("lines").task(0)
    meter.startup = startups.begin()
    meter.begin("lease")
    meter.beat("lease", Tally(), 0)
    assert startups.successes == 0
    meter.beat("lease", Tally(taken=1), 0)
    meter.note_failure()
    assert (startups.successes, startups.failures) == (1, 0)


def test_how_much_of_its_time_a_task_runs(context: Context, clock: Clock) -> None:
    context.statuses.listen(on_task=partial(context.metrics.note_state, HERE))
    ratios = [
        f'kafka_connect_connector_task_{word}_ratio{{connector="out",task="0"}}'
        for word in ("running", "pause")
    ]

    def put(state: State, seconds: float, worker: str = HERE) -> None:
        context.statuses.put_task("out", 0, Status(state, worker))
        clock.now += seconds

    assert not samples(page_of(context)).keys() & set(ratios), "nothing is known yet"
    put(State.RUNNING, 6)
    put(State.PAUSED, 2)
    found = samples(page_of(context))
    assert [found[ratio] for ratio in ratios] == [0.75, 0.25]
    put(State.RUNNING, 100, "elsewhere:1")
    put(State.RUNNING, 1)
    put(State.FAILED, 3)
    found = samples(page_of(context))
    assert [found[ratio] for ratio in ratios] == [0.25, 0]


def test_only_this_workers_connectors(context: Context) -> None:
    context.statuses.put_connector("lines", Status(State.RUNNING, "elsewhere:1"))
    page = page_of(context)
    assert 'connector="lines"' not in page
    assert samples(page)["kafka_connect_worker_connector_count"] == 2


def test_the_numbers_of_a_task(context: Context) -> None:
    tally = Tally(records=90, given=90, taken=100, payload_bytes=9000, retries=2)
    tally.count_batch(100, 0.2)
    tally.transactions, tally.commit_seconds, tally.longest_commit = 3, 0.06, 0.04
    moved(context, "lines", 0, tally)
    found = samples(page_of(context))
    mine = '{connector="lines",task="0"}'
    source = "kafka_connect_source_task_"
    assert found[f"{source}source_record_poll_total{mine}"] == 100
    assert found[f"{source}source_record_write_total{mine}"] == 90
    assert 0 < found[f"{source}source_record_write_rate{mine}"] <= 90
    assert found[f"{source}poll_batch_avg_time_ms{mine}"] == pytest.approx(200)
    assert found[f"{source}transaction_size_avg{mine}"] == 30
    task = "kafka_connect_connector_task_"
    assert found[f"{task}batch_size_max{mine}"] == 100
    assert found[f"{task}offset_commit_avg_time_ms{mine}"] == pytest.approx(20)
    assert found[f"{task}offset_commit_max_time_ms{mine}"] == pytest.approx(40)
    assert found[f"kafka_connect_task_error_total_retries{mine}"] == 2
    assert found[f"penstock_task_bytes_total{mine}"] == 9000
    assert found['penstock_task_leases_total{connector="lines",task="0",end="done"}'] == 1
    assert f'{task}batch_size_max{{connector="lines",task="1"}}' not in found


def test_lost_leases(context: Context, clock: Clock) -> None:
    meter = context.metrics.of("lines")
    meter.task(0).lost.update({Reason.FENCED: 2, Reason.SPARK_LOST: 1})
    meter.losses.lost(0, Reason.FENCED)
    meter.losses.lost(0, Reason.FENCED)
    meter.waits.add()
    clock.now += 7
    found = samples(page_of(context))
    mine = '{connector="lines",task="0"}'
    lost = 'penstock_task_lost_leases_total{connector="lines",task="0",reason='
    assert found[f'{lost}"fenced"}}'] == 2
    assert found[f'{lost}"spark lost"}}'] == 1
    assert found[f"penstock_task_lost_leases_in_a_row{mine}"] == 2
    assert found[f"penstock_task_standstill_seconds{mine}"] == 7
    assert found['penstock_task_standstill_seconds{connector="lines",task="1"}'] == 0
    assert found['penstock_connector_waiting_seconds{connector="lines"}'] == 7
    shown = MetricsView(context, Watch(context, lambda _: None)).metrics("lines")
    assert shown["waiting_seconds"] == 7
    assert shown["tasks"][0]["lost_leases"] == {
        "reasons": {"fenced": 2, "spark lost": 1},
        "in_a_row": 2,
        "standstill_seconds": 7,
    }


def test_the_errors_of_a_sink(context: Context) -> None:
    bad = Tally(taken=9, given=7, bad_records=2, skipped=2, dead_letters=1, transactions=4)
    moved(context, "out", 0, bad)
    found = samples(page_of(context))
    mine = '{connector="out",task="0"}'
    assert found[f"kafka_connect_sink_task_sink_record_read_total{mine}"] == 9
    assert found[f"kafka_connect_sink_task_sink_record_send_total{mine}"] == 7
    assert found[f"kafka_connect_sink_task_offset_commit_seq_no{mine}"] == 4
    error = "kafka_connect_task_error_"
    assert found[f"{error}total_record_failures{mine}"] == 2
    assert found[f"{error}total_records_skipped{mine}"] == 2
    assert found[f"{error}deadletterqueue_produce_requests{mine}"] == 1
    assert found[f"{error}last_error_timestamp{mine}"] > 1e12


def test_types_and_helps(context: Context) -> None:
    page = page_of(context)
    assert "# TYPE kafka_connect_source_task_source_record_poll_total counter\n" in page
    assert "# TYPE kafka_connect_worker_connector_count gauge\n" in page
    families = re.findall(r"^# TYPE (\S+)", page, re.MULTILINE)
    assert families == re.findall(r"^# HELP (\S+) \S", page, re.MULTILINE)
    assert len(families) == len(set(families))


def test_the_json_of_a_source(context: Context) -> None:
    moved(context, "lines", 1, Tally(records=6, payload_bytes=60), End.FAILED)
    context.metrics.of("lines").restarts = 2
    shown = MetricsView(context, Watch(context, lambda _: None)).metrics("lines")
    assert (shown["records_total"], shown["restarts"]) == (6, 2)
    assert shown["records_per_second"] > 0
    assert [task["state"] for task in shown["tasks"]] == ["RUNNING", "FAILED"]
    assert shown["tasks"][1]["errors"]["failures"] == 1
    assert shown["tasks"][0]["batch"]["average_ms"] is None
    assert shown["position"]["partition_count"] == 150
    assert (
        shown["position"]["partitions"]
        == [{"partition": {"filename": "f"}, "offset": {"position": 5}}] * 100
    )
    assert shown["auto_restart"] == {"count": 0, "last_restart_timestamp": None}


def test_a_sink_whose_broker_does_not_answer_has_no_known_lag(context: Context) -> None:
    shown = MetricsView(context, Watch(context, lambda _: None)).metrics("out")
    assert shown["lag"] is None
    assert "lag" not in page_of(context)


def test_the_page_of_metrics_names_just_what_there_is(context: Context, clock: Clock) -> None:
    page = busy_page(context, clock)
    names = {name.partition("{")[0] for name in samples(page)}
    told = set(documented())
    assert {name for name in names if not any(map(name.endswith, told))} == set()
    assert {each for each in told if not any(name.endswith(each) for name in names)} == set()
    assert "Spark jobs" not in page, "turns and leases are counted"


def busy_page(context: Context, clock: Clock) -> str:
    """With everything that is left out while nothing has happened."""
    rebalances = Rebalances(clock)
    rebalances.begin()
    rebalances.end()
    for startups in (context.metrics.connector_startups, context.metrics.task_startups):
        startups.begin().failed()
    context.statuses.listen(on_task=partial(context.metrics.note_state, HERE))
    for name in ("lines", "out"):
        context.statuses.put_task(name, 0, Status(State.RUNNING, HERE))
        clock.now += 1
        tally = Tally(taken=9, given=7, bad_records=2, transactions=3)
        tally.count_batch(9, 0.2)
        moved(context, name, 0, tally)
        context.metrics.of(name).task(0).lost.update({Reason.FENCED: 1})
    lag = PartitionLag("t", 0, 5, 9, 4)
    seen = [
        replace(each, lags=[lag] if each.type == "sink" else None)
        for each in Watch(context, lambda _: None).own()
    ]
    group: Any = SimpleNamespace(
        settled=lambda: True, leader_url=lambda: "http://w:1", rebalances=rebalances
    )
    watch: Any = SimpleNamespace(own=lambda: seen)
    return MetricsText(context, watch, group).page()


def documented() -> Iterator[str]:
    """Names in the first column of the table of docs/metrics.md; braces hold alternatives."""
    rows = re.findall(r"^\| (`.*?) \|", DOCUMENT.read_text(), re.MULTILINE)
    for short in re.findall(r"`([a-z_{},]+)`", "\n".join(rows)):
        parts = [part.split(",") for part in re.split(r"[{}]", short)]
        yield from ("".join(chosen) for chosen in product(*parts))
