"""The cluster that is read, as the connector sees it: which partitions it has, and their ends."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Final, TypeVar

from confluent_kafka import IsolationLevel, KafkaException, TopicCollection, TopicPartition
from confluent_kafka.admin import AdminClient, ConfigResource, ConfigSource, OffsetSpec

from penstock.plugins.mirror.cluster_clients import Noted, close_admin, make_admin, trouble
from penstock.plugins.mirror.mirror_offsets import MirroredPartition

SECONDS: Final = 3.0
LATE: Final = 2.0
_NO_ID: Final = "AAAAAAAAAAAAAAAAAAAAAA"
"""The id of a topic whose broker knows none."""
T = TypeVar("T")


class SourceCluster:
    """One client. Errors say what to do; one that may pass is a ``RetriableError``."""

    def __init__(self, settings: Mapping[str, Any], label: str) -> None:
        self._noted = Noted(maxlen=100)
        self._label = label
        self._admin: AdminClient = make_admin(settings, self._noted)

    def topics(self) -> list[str]:
        """The names of all topics."""
        return sorted(self._asked(lambda: self._admin.list_topics(timeout=SECONDS)).topics)

    def partitions(self, topics: Sequence[str]) -> list[MirroredPartition]:
        """Those of ``topics`` that are still there."""
        if not topics:
            return []
        wanted = TopicCollection(list(topics))
        asked = self._admin.describe_topics(wanted, request_timeout=SECONDS)
        found = []
        for topic in topics:
            known = self._known(asked[topic])
            if known is not None:
                name = str(known.topic_id) if known.topic_id is not None else _NO_ID
                topic_id = "" if name == _NO_ID else name
                numbers = sorted(partition.id for partition in known.partitions)
                found += [MirroredPartition(topic, number, topic_id) for number in numbers]
        return found

    def ends(
        self, partitions: Collection[MirroredPartition], *, committed: bool
    ) -> dict[MirroredPartition, int]:
        """The end of each; those that do not answer for themselves are left out."""
        level = IsolationLevel.READ_COMMITTED if committed else IsolationLevel.READ_UNCOMMITTED
        by_place = {TopicPartition(p.topic, p.partition): p for p in partitions}
        if not by_place:
            return {}
        asked = self._admin.list_offsets(
            {place: OffsetSpec.latest() for place in by_place},
            isolation_level=level,
            request_timeout=SECONDS,
        )
        known = {by_place[place]: self._known(future) for place, future in asked.items()}
        return {p: int(end.offset) for p, end in known.items() if end is not None}

    def settings_of(self, topics: Iterable[str]) -> dict[str, dict[str, str]]:
        """What was set for each of ``topics`` itself."""
        resources = [ConfigResource(ConfigResource.Type.TOPIC, topic) for topic in topics]
        if not resources:
            return {}
        asked = self._admin.describe_configs(resources, request_timeout=SECONDS)
        own = ConfigSource.DYNAMIC_TOPIC_CONFIG.value
        return {
            resource.name: {
                name: entry.value
                for name, entry in (self._known(future) or {}).items()
                if entry.source == own and entry.value is not None
            }
            for resource, future in asked.items()
        }

    def close(self) -> None:
        """Destroy the client."""
        close_admin(self._admin)

    def _known(self, future: Any) -> Any:
        """The answer; None for a topic or partition that is not there."""
        try:
            return self._asked(lambda: future.result(SECONDS + LATE))
        except LookupError:
            return None

    def _asked(self, call: Callable[[], T]) -> T:
        try:
            answer = call()
        except KafkaException as error:
            if error.args[0].name() in _GONE:
                raise LookupError from None
            self._admin.poll(0)
            raise trouble(self._label, error, self._noted) from None
        self._noted.clear()
        return answer


_GONE: Final = frozenset({"UNKNOWN_TOPIC_OR_PART", "_UNKNOWN_PARTITION", "_UNKNOWN_TOPIC"})
