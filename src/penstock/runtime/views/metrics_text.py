"""``/metrics``: this worker's connectors under the names that Strimzi's dashboards and alerts know.

Names are ``kafka_connect_`` and what Strimzi's exporter makes of Kafka Connect's own metrics;
metrics that Kafka Connect does not have start with ``penstock_``. Unknown values are left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Protocol

from penstock.engine.carriers.fleet import Fleet
from penstock.runtime.cluster.rebalances import Rebalances
from penstock.runtime.meters.metrics import ConnectorMeter
from penstock.runtime.meters.startups import Startups
from penstock.runtime.running.context import Context
from penstock.runtime.states import State
from penstock.runtime.views.prometheus_text import Family, labels, render
from penstock.runtime.views.task_samples import KINDS, Seen, common
from penstock.runtime.views.watched import Watch, Watched

TASK_COUNTS = ("running", "paused", "failed", "unassigned", "destroyed", "restarting")
METERS: tuple[tuple[str, str, Callable[[ConnectorMeter], float]], ...] = (
    ("looks_total", "Checks for work", lambda m: m.looks),
    ("turns_total", "Leases begun", lambda m: m.turns),
    ("broken_turns_total", "Leases that ended without a report", lambda m: m.broken_turns),
    ("restarts_total", "Restarts, requested or automatic", lambda m: m.restarts),
    (
        "waiting_seconds",
        "Since when something keeps the connector waiting; 0 if nothing does",
        lambda m: m.waits.seconds,
    ),
    (
        "auto_restart_count",
        "Automatic restarts since it was last healthy for long enough",
        lambda m: m.auto_restarts.count,
    ),
)


class Group(Protocol):
    """What the page shows about the worker's membership."""

    rebalances: Rebalances

    def settled(self) -> bool:
        """Whether the worker is a member and has settled."""

    def leader_url(self) -> str | None:
        """The leader's address, if known."""


class MetricsText:
    """Renders the page. Thread-safe."""

    def __init__(self, context: Context, watch: Watch, group: Group) -> None:
        self._context = context
        self._watch = watch
        self._group = group

    def page(self) -> str:
        """All metrics, in Prometheus' text format."""
        page = _Page()
        watched = list(self._watch.own())
        self._worker(page, watched)
        self._rebalance(page)
        _carriers(page, self._context.engine.fleet)
        for each in watched:
            _connector(page, each)
        return render(page.families())

    def _worker(self, page: _Page, watched: Iterable[Watched]) -> None:
        counts = [len(each.tasks) for each in watched]
        for name, value in (
            ("worker_connector_count", len(counts)),
            ("worker_task_count", sum(counts)),
            ("coordinator_assigned_connectors", len(counts)),
            ("coordinator_assigned_tasks", sum(counts)),
        ):
            page.connect(name, "", value)
        metrics = self._context.metrics
        _startups(page, "connector", metrics.connector_startups)
        _startups(page, "task", metrics.task_startups)

    def _rebalance(self, page: _Page) -> None:
        group = self._group
        page.connect("worker_rebalance_rebalancing", "", 0 if group.settled() else 1)
        page.connect("worker_rebalance_epoch", "", self._context.generation())
        for name, value in group.rebalances.samples():
            page.connect(f"worker_rebalance_{name}", "", value)
        if leader := group.leader_url():
            page.connect("worker_rebalance_leader_name", labels(leader_name=leader), 1)


class _Page:
    """The families, in the order of their first samples."""

    def __init__(self) -> None:
        self._families: dict[str, Family] = {}

    def families(self) -> Iterable[Family]:
        return self._families.values()

    def connect(self, name: str, labelled: str, value: float) -> None:
        """A metric of Kafka Connect, by its name without ``kafka_connect_``."""
        family = self._families.get(name)
        if family is None:
            words = name.replace("_", " ")
            family = self._new(name, f"kafka_connect_{name}", f"Kafka Connect {words}")
        family.add(labelled, value)

    def own(self, name: str, text: str, labelled: str, value: float) -> None:
        """A metric that only we have."""
        family = self._families.get(name) or self._new(name, f"penstock_{name}", text)
        family.add(labelled, value)

    def _new(self, key: str, name: str, text: str) -> Family:
        kind = "counter" if name.endswith("_total") else "gauge"
        self._families[key] = family = Family(name, text, kind)
        return family


def _startups(page: _Page, what: str, startups: Startups) -> None:
    for word, value in (
        ("attempts", startups.attempts),
        ("success", startups.successes),
        ("failure", startups.failures),
    ):
        page.connect(f"worker_{what}_startup_{word}_total", "", value)
    successes, failures = startups.successes, startups.failures
    if decided := successes + failures:
        # A ratio, despite its name, as in Kafka Connect.
        page.connect(f"worker_{what}_startup_success_percentage", "", successes / decided)
        page.connect(f"worker_{what}_startup_failure_percentage", "", failures / decided)


def _carriers(page: _Page, fleet: Fleet) -> None:
    page.own("carrier_moves_total", "Leases moved to another carrier", "", fleet.moves)
    page.own("carrier_lost_leases_total", "Leases lost with their carrier", "", fleet.losses)
    carriers = fleet.seen()
    page.own("carriers", "Carriers that run", "", len(carriers))
    for each in carriers:
        mine, vitals = labels(carrier=each.number, name=each.name), each.vitals
        for word, text, value in (
            ("leases", "Leases that it runs", len(each.tasks)),
            ("cpu_seconds_total", "CPU time of its process", vitals.cpu_seconds),
            ("memory_bytes", "Memory of its process", vitals.memory_bytes),
            ("threads", "Threads of its process that Python knows", vitals.threads),
        ):
            page.own(f"carrier_{word}", text, mine, value)


def _connector(page: _Page, watched: Watched) -> None:
    name = watched.name
    plugin = watched.plugin
    for word, value in (
        ("status", watched.status.state.lower()),
        ("connector_class", plugin.class_name if plugin else watched.class_name),
        ("connector_type", watched.type),
        ("connector_version", plugin.version if plugin else "unknown"),
    ):
        page.connect(f"connector_{word}", labels(connector=name, **{word: value}), 1)
    mine = labels(connector=name)
    _task_counts(page, mine, watched)
    for word, text, read in METERS:
        page.own(f"connector_{word}", text, mine, read(watched.meter))
    for task, status in watched.tasks.items():
        state = status.state.lower()
        page.connect("connector_task_status", labels(connector=name, task=task, status=state), 1)
        _task(page, watched, task)
    _lag(page, watched)


def _task_counts(page: _Page, labelled: str, watched: Watched) -> None:
    states = Counter(status.state for status in watched.tasks.values())
    page.connect("worker_connector_total_task_count", labelled, len(watched.tasks))
    for word in TASK_COUNTS:
        count = states[State(word.upper())] if word.upper() in State.__members__ else 0
        page.connect(f"worker_connector_{word}_task_count", labelled, count)


def _task(page: _Page, watched: Watched, task: int) -> None:
    meter, mine = watched.meter.task(task), labels(connector=watched.name, task=task)
    seen = Seen.of(meter)
    for name, value in common(seen):
        page.connect(name, mine, value)
    for name, value in KINDS[watched.type](seen) if watched.type in KINDS else ():
        page.connect(name, mine, value)
    lags = watched.lags_of(task)
    if lags is not None:
        page.connect("sink_task_partition_count", mine, len(lags))
        lag = max((each.lag for each in lags), default=0)
        page.connect("sink_task_sink_record_lag_max", mine, lag)
    page.own(
        "task_bytes_total", "Bytes of keys and values committed", mine, seen.total.payload_bytes
    )
    for end, count in dict(meter.ends).items():
        how = labels(connector=watched.name, task=task, end=end)
        page.own("task_leases_total", "Leases of the task, by how they ended", how, count)
    _losses(page, watched, task)


def _losses(page: _Page, watched: Watched, task: int) -> None:
    for reason, count in dict(watched.meter.task(task).lost).items():
        why = labels(connector=watched.name, task=task, reason=reason)
        page.own("task_lost_leases_total", "Lost leases of the task, by reason", why, count)
    mine, losses = labels(connector=watched.name, task=task), watched.meter.losses
    for name, text, value in (
        ("lost_leases_in_a_row", "Leases lost since the last progress", losses.in_a_row(task)),
        ("standstill_seconds", "Since the first of those; 0 if none", losses.seconds(task)),
    ):
        page.own(f"task_{name}", text, mine, value)


def _lag(page: _Page, watched: Watched) -> None:
    for each in watched.lags or ():
        where = labels(connector=watched.name, topic=each.topic, partition=each.partition)
        page.own(
            "sink_lag", "Offsets between a sink's position and its topic's end", where, each.lag
        )
