"""A running source connector."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from penstock.engine.lease.lease import KeyedOffset, Lease, Limits, Report, SourceLease
from penstock.engine.lease.new_topics import TopicGroup
from penstock.engine.lease.source_lease import move
from penstock.runtime.config.topic_creation import topic_groups
from penstock.runtime.config.transaction_boundary import with_boundary
from penstock.runtime.running.runner import DRY_SECONDS, PROBE_PAUSE, SHORT_DRY_SECONDS, Runner
from penstock.runtime.running.scheduler import TURN, Next
from penstock.sdk.connectors import SourceConnector
from penstock.sdk.offsets import OffsetReader, canonical

log = logging.getLogger(__name__)

OWN_TOPIC = "offsets.storage.topic"


class SourceRunner(Runner):
    """Turns of a source: positions are what the last lease returned, or the offsets topic."""

    _positions: dict[str, KeyedOffset] | None = None
    _reader: OffsetReader | None = None
    _probing = False
    _planned = False

    def _report_running(self) -> None:
        super()._report_running()
        used = self.context.offsets.log.topic
        if self.config.get(OWN_TOPIC, "").strip() not in ("", used):
            log.warning(
                "%s has no effect: the offsets of this connector are stored in the worker's topic "
                "%s. If Kafka Connect ran it before, compare them with those it listed; if "
                "they differ, stop the connector, alter its offsets, resume it",
                OWN_TOPIC,
                used,
            )

    def _look(self) -> Next:
        answer = self._watched(self._connector.look, self._offsets())
        self._probing = answer is None
        if answer is not False:
            return TURN
        if type(self._connector).wake_on_news is not SourceConnector.wake_on_news:
            self._watched(self._connector.wake_on_news, self._notice)
        return self._idle()

    def _notice(self) -> None:
        """There may be news. What runs notices by itself."""
        if not self._running:
            self._wake()

    def _offsets(self) -> OffsetReader:
        """Cached while valid: an idle connector is checked several times a second."""
        if self._positions is None or self.adrift:
            return _reader(self.context.offsets.of(self.name))
        if self._reader is None:
            self._reader = _reader(self._positions.values())
        return self._reader

    def _read_positions(self) -> None:
        self._reader = None
        self.context.offsets.log.read_to_end()
        self._positions = {
            canonical(entry[1]): entry for entry in self.context.offsets.of(self.name)
        }

    def _plan(self, tasks: Sequence[int], limits: Limits) -> list[Lease]:
        extras = self._extras()
        flush_interval = self.context.worker["offset.flush.interval.ms"]
        bounded = with_boundary(limits, self.config, flush_interval)
        return [self._lease(task, bounded, extras.get(task, {})) for task in tasks]

    def _extras(self) -> dict[int, Mapping[str, str]]:
        """What the connector adds to each task's configuration for the coming leases.

        A connector with a plan divides its work again, so its leases begin and end together.
        """
        self._leases.together = type(self._connector).plan is not SourceConnector.plan
        if not self._leases.together:
            return {}
        live = self._live()
        plan, callbacks = self._connector.plan, self.context.scheduler.callbacks
        extras = callbacks.call(self.name, "planning", plan, self._offsets(), live)
        self._planned = extras is not None
        return {} if extras is None else dict(zip(live, extras, strict=True))

    def _patience(self) -> float:
        return SHORT_DRY_SECONDS if self._planned or self._probing else DRY_SECONDS

    def _lease(self, task: int, limits: Limits, extra: Mapping[str, str]) -> SourceLease:
        assert self._positions is not None  # noqa: S101 (read by _recover)
        base = self._base_lease(task, limits)
        return SourceLease(
            **vars(replace(base, config={**base.config, **extra})),
            task_class=self._connector.task_class,
            offsets_topic=self.context.offsets.log.topic,
            positions=tuple(self._positions.values()),
            partition_keys=self._connector.partition_keys,
            topic_groups=self._topic_groups(),
        )

    def _topic_groups(self) -> tuple[TopicGroup, ...]:
        return topic_groups(self.config) if self.context.worker["topic.creation.enable"] else ()

    def _absorb(self, report: Report) -> None:
        assert self._positions is not None  # noqa: S101 (read by _recover)
        self._reader = None
        move(self._positions, {canonical(entry[1]): entry for entry in report.positions})

    def _idle(self) -> Next:
        """A connector without a look is probed by a short lease, less and less often."""
        if not self._probing:
            return super()._idle()
        return Next(delay=self._pause.longer(PROBE_PAUSE))


def _reader(entries: Iterable[KeyedOffset]) -> OffsetReader:
    return OffsetReader((partition, offset) for _, partition, offset in entries)
