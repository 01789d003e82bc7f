"""A running source connector."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.engine.lease import KeyedOffset, Lease, Limits, Report, SourceLease
from penstock.runtime.runner import PROBE_PAUSE, Runner
from penstock.runtime.scheduler import TURN, Next
from penstock.sdk.offsets import OffsetReader, canonical


class SourceRunner(Runner):
    """Turns of a source: positions are what the last lease returned, or the offsets topic."""

    _positions: dict[str, KeyedOffset] | None = None
    _probing = False

    def _look(self) -> Next:
        known = self._known()
        answer = self._connector.look(OffsetReader((p, o) for _, p, o in known))
        self._probing = answer is None
        return self._idle() if answer is False else TURN

    def _known(self) -> Sequence[KeyedOffset]:
        if self._positions is None or self.unsure:
            return self.context.offsets.of(self.name)
        return list(self._positions.values())

    def _read_positions(self) -> None:
        self.context.offsets.log.read_to_end()
        self._positions = {
            canonical(entry[1]): entry for entry in self.context.offsets.of(self.name)
        }

    def _plan(self, tasks: Sequence[int], limits: Limits) -> list[Lease]:
        return [self._lease(task, limits) for task in tasks]

    def _lease(self, task: int, limits: Limits) -> SourceLease:
        assert self._positions is not None  # noqa: S101 (read by _recover)
        return SourceLease(
            **self._lease_fields(task, limits),
            offsets_topic=self.context.offsets.log.topic,
            positions=tuple(self._positions.values()),
            partition_keys=self._connector.partition_keys,
        )

    def _absorb(self, report: Report) -> None:
        assert self._positions is not None  # noqa: S101 (read by _recover)
        for entry in report.positions:
            self._positions[canonical(entry[1])] = entry

    def _idle(self) -> Next:
        """A connector without a look is probed by a short lease instead, ever less often."""
        if not self._probing:
            return super()._idle()
        self._pause = min(self._pause * 2, PROBE_PAUSE)
        return Next(delay=self._pause)
