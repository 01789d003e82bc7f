"""List, alter and reset offsets (KIP-875)."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from penstock.kafka import groups, topics
from penstock.kafka.errors import BrokerUnavailable, KafkaFault
from penstock.kafka.json_forms import dump
from penstock.kafka.names import transactional_id
from penstock.kafka.sink_copies import SinkGroup
from penstock.kafka.topics import PartitionId
from penstock.kafka.transactions import GroupOffsets, Transactions
from penstock.runtime.errors import BadRequest, InternalError
from penstock.runtime.offset_requests import (
    passed_over,
    rewritten_sink,
    rewritten_source,
    sink_changes,
    source_changes,
    source_entry,
)
from penstock.runtime.plugins import Plugins
from penstock.runtime.running.context import Context
from penstock.runtime.running.fencing import fence_tasks
from penstock.runtime.running.sink_writes import SinkWrites
from penstock.runtime.states import Target
from penstock.runtime.stores.position_copies import Record
from penstock.runtime.stores.sink_positions import known_positions
from penstock.sdk.connectors import Connector, SinkConnector, TopicPartition
from penstock.sdk.errors import ConfigError, OffsetError, PenstockError
from penstock.sdk.offsets import OffsetReader

log = logging.getLogger(__name__)

STOP_FIRST = "Stop it first: `penstock stop connector NAME`."
NOT_STOPPED = (
    "Connectors must be in the STOPPED state before their offsets can be modified. This can be "
    "done for the specified connector by issuing a 'PUT' request to the '/connectors/{name}/stop' "
    "endpoint"
)
DONE = "The offsets for this connector have been {verb} successfully"
DONE_BY_FRAMEWORK = (
    "The Connect framework-managed offsets for this connector have been {verb} successfully. "
    "However, if this connector manages offsets externally, they will need to be manually {verb} "
    "in the system that the connector uses."
)
IN_USE = (
    "Failed to {verb} consumer group offsets for connector {name} either because its tasks "
    "haven't stopped completely yet or the connector was resumed before the request to {verb} its "
    "offsets could be successfully completed. If the connector is in a stopped state, this "
    "operation can be safely retried. If it doesn't eventually succeed, the Connect cluster may "
    "need to be restarted to get rid of the zombie sink tasks."
)
UNSUPPORTED = (
    "Failed to modify offsets for connector {name} because it doesn't support external "
    "modification of offsets"
)
PASSED_OVER = (
    ". They skip records that the connector had read but not committed when it failed, and "
    "whose effect may be undone: {passed}. To read these again, alter the offsets back"
)
LIST_SECONDS = 10.0
COPIES_SECONDS = 10.0


class OffsetsApi:
    """Offsets of any connector; the herder's lock on the connector is held for changes."""

    def __init__(self, context: Context, plugins: Plugins) -> None:
        self._context = context
        self._plugins = plugins

    def list(self, name: str) -> dict[str, Any]:
        """Every known offset, in the shape that ``alter`` takes."""
        if self._is_sink(name):
            found = self._sink_positions(name)
            return {"offsets": [_sink_entry(p, o) for p, (o, _) in sorted(found.items())]}
        self._catch_up()
        cls, entries = self._plugin(name), self._context.offsets.of(name)
        return {"offsets": [source_entry(cls, p, o) for _, p, o in entries]}

    def _catch_up(self) -> None:
        """As fresh as possible within the timeout; otherwise from memory."""
        try:
            self._context.offsets.log.read_to_end(LIST_SECONDS)
        except BrokerUnavailable as error:
            log.warning("listing offsets from memory: %s", error)

    def alter(self, name: str, requested: Sequence[Any]) -> str:
        """Set some offsets; the message for the user."""
        self._require_stopped(name)
        if self._is_sink(name):
            return self._change_sink(name, sink_changes(requested), "altered")
        return self._change_source(name, source_changes(requested), "altered")

    def reset(self, name: str) -> str:
        """Forget every offset; the message for the user."""
        self._require_stopped(name)
        if self._is_sink(name):
            return self._change_sink(name, dict.fromkeys(self._sink_positions(name)), "reset")
        self._fence(name)
        known = [(p, None) for _, p, _ in self._context.offsets.of(name)]
        return self._change_source(name, known, "reset")

    def _require_stopped(self, name: str) -> None:
        configs = self._context.configs
        if configs.target(name) is not Target.STOPPED or configs.tasks(name):
            raise BadRequest(NOT_STOPPED.format(name=name)).advising(STOP_FIRST)

    def _plugin(self, name: str) -> Any:
        config = self._context.configs.config(name) or {}
        return self._plugins.connector(config.get("connector.class", "")).cls

    def _is_sink(self, name: str) -> bool:
        return issubclass(self._plugin(name), SinkConnector)

    def _ask_connector(self, name: str, connector: Connector, changes: Any) -> Any:
        """The connector's own check; its text reaches the user unchanged."""
        config = self._context.configs.config(name) or {}
        ask = connector.alter_offsets  # type: ignore[attr-defined]  # both kinds have it
        try:
            config = self._context.worker.rules.providers.resolve(config).config
            callbacks = self._context.scheduler.callbacks
            answer = callbacks.call(name, "altering offsets", ask, config, changes)
            return False if answer is None else answer
        except NotImplementedError as error:
            raise InternalError(UNSUPPORTED.format(name=name)) from error
        except OffsetError as error:
            raise BadRequest(str(error)) from error
        except PenstockError as error:
            raise InternalError(str(error)) from error

    def _fence(self, name: str) -> None:
        """Rule 1, before an alter: fence every task id, then read to the true end."""
        context = self._context
        try:
            fence_tasks(context, name, context.configs.fenced_tasks(name))
            context.offsets.log.read_to_end()
        except KafkaFault as error:
            raise InternalError(
                "Failed to perform zombie fencing for source connector prior to modifying offsets"
            ) from error

    # Sources.

    def _change_source(self, name: str, changes: Sequence[Any], verb: str) -> str:
        self._fence(name)
        offsets, connector = self._context.offsets, self._plugin(name)()
        connector.committed = OffsetReader((p, o) for _, p, o in offsets.of(name))
        answer = self._ask_connector(name, connector, changes)
        order = connector.partition_keys
        records = [
            (offsets.log.topic, offsets.key(name, p, order), None if o is None else dump(o))
            for p, o in (changes if isinstance(answer, bool) else rewritten_source(answer))
            if p is not None
        ]
        self._transact(name, records)
        offsets.log.read_to_end()
        return _message(answer is not False, verb)

    def _transact(self, name: str, records: Sequence[tuple[str, bytes, bytes | None]]) -> None:
        """One transaction under task 0's id and this worker's membership."""
        context = self._context
        try:
            mine = context.membership().offsets()
            producer = Transactions(
                context.connection, transactional_id(context.worker.group_id, name, 0)
            )
            _commit(producer, records, mine)
        except KafkaFault as error:
            raise InternalError(f"Kafka did not accept the offsets: {error}. Try again.") from error

    # Sinks.

    def _group(self, name: str) -> SinkGroup:
        try:
            return self._context.sink_groups.of(name)
        except ConfigError as error:
            raise InternalError(str(error)) from error

    def _sink_positions(self, name: str) -> dict[PartitionId, groups.Committed]:
        sink = self._group(name)
        try:
            known = known_positions(self._context.admin, self._context.copies, sink)
        except KafkaFault as error:
            raise InternalError(
                f"Kafka did not return the offsets of connector {name}: {error}. Try again."
            ) from error
        return dict(known.committed)

    def _change_sink(self, name: str, changes: dict[PartitionId, int | None], verb: str) -> str:
        asked = {TopicPartition(*position): offset for position, offset in changes.items()}
        sink = self._group(name)
        answer = self._ask_connector(name, self._plugin(name)(), asked)
        if not isinstance(answer, bool):
            changes = rewritten_sink(answer)
        try:
            self._write_sink(SinkWrites(self._context, sink), sink, changes, verb)
        except groups.GroupInUse as error:
            word = {"altered": "alter", "reset": "reset"}[verb]
            raise InternalError(IN_USE.format(verb=word, name=name)) from error
        except KafkaFault as error:
            raise InternalError(f"Kafka did not accept the offsets: {error}. Try again.") from error
        return _message(answer is not False, verb) + self._passed_over(name, changes)

    def _passed_over(self, name: str, changes: dict[PartitionId, int | None]) -> str:
        """Warns about records that were read but never committed."""
        passed = passed_over(self._context.statuses.uncommitted(name), changes)
        if passed:
            log.warning("altered offsets skip records that were never committed: %s", passed)
        return PASSED_OVER.format(passed=passed) if passed else ""

    def _write_sink(
        self,
        writes: SinkWrites,
        sink: SinkGroup,
        changes: dict[PartitionId, int | None],
        verb: str,
    ) -> None:
        """Delete the copy before the offsets, so that they are not restored from it."""
        context, (name, group) = self._context, sink
        if not context.copies.catch_up(sink, COPIES_SECONDS):
            raise BrokerUnavailable("an unfinished commit of another sink blocks its copies")
        before = known_positions(context.admin, context.copies, sink, settled=True).committed
        self._refuse_unknown(name, [p for p, o in changes.items() if o is not None])
        # The commit metadata stays: it says how far the target is written.
        kept = {p: before.get(p, (0, ""))[1] for p in changes}
        set_to = {p: (o, kept[p]) for p, o in changes.items() if o is not None}
        writes.write(set_to, self._copies(sink, changes, kept))
        context.copies.catch_up(sink)
        # Kafka cannot do this in the transaction. If one of these was on its way to the broker when
        # the caller gave up, the sink's own copy says what was committed in between.
        if verb == "reset":
            groups.delete(context.admin, group)
            return
        gone = [p for p in changes if p in before and p not in set_to]
        groups.forget(context.connection, group, gone)

    def _refuse_unknown(self, name: str, positions: Sequence[PartitionId]) -> None:
        """The broker would accept the known partitions and reject the rest."""
        known = topics.partitions_of(self._context.admin, {topic for topic, _ in positions})
        missing = [f"{t}-{p}" for t, p in positions if not 0 <= p < known[t]]
        if missing:
            raise BadRequest(
                f"Failed to alter consumer group offsets for connector {name}: there is no "
                f"partition {', '.join(missing)}"
            )

    def _copies(
        self, sink: SinkGroup, changes: dict[PartitionId, int | None], kept: dict[PartitionId, str]
    ) -> Sequence[Record]:
        copies = self._context.copies
        ids = topics.ids(self._context.admin, {t for (t, _), o in changes.items() if o is not None})
        return [
            record
            for p, o in changes.items()
            for record in (
                copies.forgetting(sink, p)
                if o is None
                else copies.setting(sink, p, (o, kept[p]), ids.get(p[0]))
            )
        ]


def _commit(
    producer: Transactions,
    records: Sequence[tuple[str, bytes, bytes | None]],
    membership: GroupOffsets,
) -> None:
    try:
        producer.commit(records, [membership])
    except KafkaFault:
        producer.abort()  # or the rejected transaction would block readers of the offsets topic
        raise


def _sink_entry(position: PartitionId, offset: int) -> dict[str, Any]:
    topic, partition = position
    return {
        "partition": {"kafka_topic": topic, "kafka_partition": partition},
        "offset": {"kafka_offset": offset},
    }


def _message(complete: bool, verb: str) -> str:
    return (DONE if complete else DONE_BY_FRAMEWORK).format(verb=verb)
