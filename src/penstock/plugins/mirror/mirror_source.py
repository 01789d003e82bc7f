"""Topics of another cluster: stands in for MirrorMaker 2's source connector."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import ClassVar, Final

from penstock import __version__
from penstock.plugins.mirror import mirror_config as keys
from penstock.plugins.mirror.cluster_clients import Noted, make_consumer
from penstock.plugins.mirror.mirror_offsets import (
    PARTITION_KEYS,
    TOPIC_ID,
    MirroredPartition,
    check_alteration,
)
from penstock.plugins.mirror.mirror_settings import MirrorSettings
from penstock.plugins.mirror.mirror_source_task import (
    PARTITIONS,
    PASSES,
    PROBLEM,
    MirrorSourceTask,
)
from penstock.plugins.mirror.source_cluster import SourceCluster
from penstock.plugins.mirror.target_topics import TargetTopics
from penstock.plugins.mirror.topic_names import matches, patterns
from penstock.sdk.checked import objections
from penstock.sdk.config import ConfigDef
from penstock.sdk.connectors import SourceConnector
from penstock.sdk.errors import PenstockError, RetriableError
from penstock.sdk.guarantees import Guarantee
from penstock.sdk.offsets import OffsetReader, SourceOffset, SourcePartition
from penstock.sdk.tasks import SourceTask

LOOK_SECONDS: Final = 0.25
_BYTES: Final = "org.apache.kafka.connect.converters.ByteArrayConverter"


class MirrorSourceConnector(SourceConnector):
    """Records keep their keys, values, headers, timestamps and partitions.

    Partitions are dealt out to the tasks in turn, and stay there until the connector restarts.
    """

    config_def: ClassVar[ConfigDef] = keys.MIRROR_CONFIG
    version: ClassVar[str] = __version__
    guarantee: ClassVar[Guarantee | None] = Guarantee.EXACTLY_ONCE
    guarantee_limits: ClassVar[str] = (
        "with consumer.isolation.level=read_committed; at least once with read_uncommitted, as "
        "aborted records are mirrored too"
    )
    connect_class: ClassVar[str] = "org.apache.kafka.connect.mirror.MirrorSourceConnector"
    aliases: ClassVar[tuple[str, ...]] = ("MirrorSource",)
    example: ClassVar[Mapping[str, str]] = {
        "connector.class": "org.apache.kafka.connect.mirror.MirrorSourceConnector",
        "source.cluster.alias": "paris",
        "source.cluster.bootstrap.servers": "kafka.paris.example:9092",
        "target.cluster.bootstrap.servers": "kafka.example:9092",
        "topics": "orders,payments\\..*",
        "tasks.max": "2",
    }
    task_class: ClassVar[type[SourceTask]] = MirrorSourceTask
    partition_keys: ClassVar[tuple[str, ...]] = PARTITION_KEYS
    unlisted_offset_keys: ClassVar[tuple[str, ...]] = (TOPIC_ID,)
    converters: ClassVar[Mapping[str, str]] = {
        "key.converter": _BYTES,
        "value.converter": _BYTES,
        "header.converter": _BYTES,
    }

    @classmethod
    def guarantee_of(cls, config: Mapping[str, str]) -> Guarantee | None:
        committed = MirrorSettings.of(config).committed
        return cls.guarantee if committed else Guarantee.AT_LEAST_ONCE

    def validate(self, config: Mapping[str, str]) -> Sequence[tuple[str, str]]:
        def check() -> None:
            settings = MirrorSettings.of(config)
            make_consumer(settings.consumer, Noted(), committed=settings.committed).close()

        return objections(check, keys.SOURCE_SERVERS)

    def start(self, config: Mapping[str, str]) -> None:
        self._config = dict(config)
        self._settings = settings = MirrorSettings.of(config)
        label = f"The source cluster {settings.alias} ({settings.servers})"
        self._source = SourceCluster(settings.source, label)
        target = f"The target cluster {settings.names.target}"
        replication = settings.read[keys.REPLICATION]
        self._target = TargetTopics(settings.target, target, replication)
        self._partitions: list[MirroredPartition] = []
        self._held: frozenset[MirroredPartition] = frozenset()
        self._listed_at = self._looked_at = float("-inf")

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        self._tasks = max_tasks
        return [dict(self._config) for _ in range(max_tasks)]

    def look(self, offsets: OffsetReader) -> bool:
        """Asks for the ends of all partitions at once, at most four times a second."""
        now = time.monotonic()
        if now < self._looked_at + LOOK_SECONDS:
            return False
        self._looked_at = now
        try:
            wanted = [p for p in self._current() if p not in self._held]
            ends = self._source.ends(wanted, committed=self._settings.committed)
        except PenstockError:
            return True  # a task tells what is wrong
        return any(self._differs(partition, end, offsets) for partition, end in ends.items())

    def _differs(self, partition: MirroredPartition, end: int, offsets: OffsetReader) -> bool:
        """Behind the end there is nothing: a task tells that too."""
        at = partition.next(self._settings.alias, offsets)
        begun = at is not None or not self._settings.from_the_end
        return (at or 0) != end or not begun

    def plan(self, offsets: OffsetReader, tasks: Sequence[int]) -> Sequence[Mapping[str, str]]:
        try:
            partitions = self._current()
            self._ensure_targets(partitions)
        except PenstockError as error:
            passes = {PASSES: "true"} if isinstance(error, RetriableError) else {}
            return [{PROBLEM: str(error), **passes} for _ in tasks]
        shares = [partitions[task :: self._tasks] for task in range(self._tasks)]
        self._held = frozenset(p for t, share in enumerate(shares) if t not in tasks for p in share)
        return [{PARTITIONS: json.dumps(shares[task])} for task in tasks]

    def alter_offsets(
        self,
        config: Mapping[str, str],
        offsets: Sequence[tuple[SourcePartition | None, SourceOffset | None]],
    ) -> bool:
        for partition, offset in offsets:
            check_alteration(partition, offset)
        return True

    def stop(self) -> None:
        for client in ("_source", "_target"):
            if hasattr(self, client):
                getattr(self, client).close()

    def _current(self) -> list[MirroredPartition]:
        """The partitions to mirror, new ones last: so each stays with its task."""
        read, now = self._settings.read, time.monotonic()
        every = read[keys.REFRESH_SECONDS] if read[keys.REFRESH] else float("inf")
        if now >= self._listed_at + every or not self._partitions:
            topics = [t for t in self._source.topics() if self._settings.names.mirrored(t)]
            found = self._source.partitions(topics)
            order = {(p.topic, p.partition): n for n, p in enumerate(self._partitions)}
            known = len(order)
            found.sort(key=lambda p: order.get((p.topic, p.partition), known))
            self._partitions, self._listed_at = found, now
        return self._partitions

    def _ensure_targets(self, partitions: Sequence[MirroredPartition]) -> None:
        names = self._settings.names
        sizes = Counter(names.remote(partition.topic) for partition in partitions)
        sources = {names.remote(p.topic): p.topic for p in partitions}

        def settings(topics: Sequence[str]) -> Mapping[str, Mapping[str, str]]:
            return self._copied({sources[topic]: topic for topic in topics})

        self._target.ensure(sizes, settings)

    def _copied(self, remote: Mapping[str, str]) -> dict[str, dict[str, str]]:
        """The settings of the topics in ``remote``, by their names in the target cluster."""
        if not self._settings.read[keys.COPY_CONFIGS]:
            return {}
        left_out = patterns(keys.CONFIGS_EXCLUDE, self._settings.read[keys.CONFIGS_EXCLUDE])
        return {
            remote[topic]: {k: v for k, v in given.items() if not matches(left_out, k)}
            for topic, given in self._source.settings_of(remote).items()
        }
