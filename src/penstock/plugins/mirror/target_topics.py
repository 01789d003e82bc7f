"""The topics that records are mirrored into: made, and given more partitions, as needed."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient, NewPartitions, NewTopic

from penstock.plugins.mirror.cluster_clients import Noted, close_admin, make_admin, trouble
from penstock.sdk.errors import UserError

log = logging.getLogger(__name__)

SECONDS: Final = 5.0


class TargetTopics:
    """One client of the target cluster."""

    def __init__(self, settings: Mapping[str, Any], label: str, replication: int) -> None:
        self._noted = Noted(maxlen=100)
        self._label, self._replication = label, replication
        self._admin: AdminClient = make_admin(settings, self._noted)
        self._large_enough: dict[str, int] = {}

    def ensure(
        self,
        wanted: Mapping[str, int],
        settings: Callable[[Sequence[str]], Mapping[str, Mapping[str, str]]],
    ) -> None:
        """Return once all these topics exist with at least that many partitions.

        ``settings`` is asked for those of the topics that have to be created.
        """
        if all(self._large_enough.get(topic, 0) >= count for topic, count in wanted.items()):
            return
        known = self._sizes()
        missing = [topic for topic in wanted if topic not in known]
        given = settings(missing) if missing else {}
        for topic in missing:
            self._create(topic, wanted[topic], given.get(topic, {}))
        for topic, count in wanted.items():
            if 0 < known.get(topic, 0) < count:
                self._grow(topic, count)
        self._large_enough.update(wanted)

    def close(self) -> None:
        """Destroy the client."""
        close_admin(self._admin)

    def _sizes(self) -> dict[str, int]:
        try:
            found = self._admin.list_topics(timeout=SECONDS).topics
        except KafkaException as error:
            self._admin.poll(0)
            raise trouble(self._label, error, self._noted) from None
        self._noted.clear()
        return {topic: len(known.partitions) for topic, known in found.items()}

    def _create(self, topic: str, partitions: int, config: Mapping[str, str]) -> None:
        log.info("creating topic %s with %d partition(s)", topic, partitions)
        new = NewTopic(topic, partitions, self._replication, config=dict(config))
        self._done(
            self._admin.create_topics([new], request_timeout=SECONDS)[topic],
            KafkaError.TOPIC_ALREADY_EXISTS,
            f"Topic {topic} could not be created",
        )

    def _grow(self, topic: str, partitions: int) -> None:
        log.info("topic %s gets %d partitions", topic, partitions)
        more = NewPartitions(topic, partitions)
        self._done(
            self._admin.create_partitions([more], request_timeout=SECONDS)[topic],
            KafkaError.INVALID_PARTITIONS,
            f"Topic {topic} could not get {partitions} partitions",
        )

    def _done(self, future: Any, fine: int, failed: str) -> None:
        try:
            future.result(2 * SECONDS)
        except KafkaException as error:
            if error.args[0].code() == fine:
                return
            if error.args[0].retriable() or error.args[0].code() < 0:
                raise trouble(self._label, error, self._noted) from None
            raise UserError(
                f"{failed} in {self._label}: {error.args[0].str()}. Create it by hand, or give "
                "the right to do so, then restart."
            ) from None
