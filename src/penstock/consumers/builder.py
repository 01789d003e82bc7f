"""The names of the RFC for named consumers, in Python's spelling; each setter can be chained."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Self

from penstock.consumers.consumer import Consumer, brokers
from penstock.consumers.errors import InvalidConsumer
from penstock.consumers.offset import Offset
from penstock.consumers.options import OffsetManagement


class ConsumerConfigExt:
    """What ``ConsumerConfigExtBuilder.build`` makes."""

    def __init__(self, topic: str, options: Mapping[str, Any]) -> None:
        self._topic = topic
        self._options = dict(options)

    def consumer(self, **connection: Any) -> Consumer:
        """A consumer with these options."""
        return Consumer(self._topic, **self._options, **connection)


class ConsumerConfigExtBuilder:
    """Collects the options of a consumer."""

    def __init__(self, topic: str | None = None) -> None:
        self._topic = topic
        self._partitions: list[int] = []
        self._options: dict[str, Any] = {}

    def topic(self, topic: str) -> Self:
        """The topic to read."""
        self._topic = topic
        return self

    def partition(self, partition: int) -> Self:
        """A partition to read; may be called for several. Without any, all are read."""
        self._partitions.append(partition)
        return self

    def max_bytes(self, count: int) -> Self:
        """How much to fetch of a partition at once, at most."""
        return self._set("max_bytes", count)

    def offset_consumer(self, name: str) -> Self:
        """The name to keep the place under."""
        return self._set("name", name)

    def offset_start(self, offset: Offset) -> Self:
        """Where to begin if nothing is stored under the name."""
        return self._set("start", offset)

    def offset_strategy(self, strategy: OffsetManagement = OffsetManagement.Auto) -> Self:
        """Who says that a record is done."""
        return self._set("strategy", strategy)

    def offset_flush(self, interval: int | timedelta) -> Self:
        """How often positions are stored: milliseconds, or a timedelta."""
        given = interval if isinstance(interval, timedelta) else timedelta(milliseconds=interval)
        return self._set("flush", given)

    def disable_continuous(self, disabled: bool = True) -> Self:
        """End where the log ends now."""
        return self._set("until_end", disabled)

    def _set(self, option: str, value: Any) -> Self:
        self._options[option] = value
        return self

    def build(self) -> ConsumerConfigExt:
        """The options, checked; InvalidConsumer if they do not go together."""
        if self._topic is None:
            raise InvalidConsumer("a topic is needed: ConsumerConfigExtBuilder().topic(...)")
        if self._partitions:
            self._options["partitions"] = list(self._partitions)
        config = ConsumerConfigExt(self._topic, self._options)
        config.consumer(bootstrap_servers="unasked:9092")  # checks, and asks nobody
        return config


class Client:
    """A cluster to make consumers for."""

    def __init__(self, bootstrap_servers: str, security: Mapping[str, str]) -> None:
        self._connection = {"bootstrap_servers": bootstrap_servers, "security": security}

    def consumer_with_config(self, config: ConsumerConfigExt) -> Consumer:
        """A consumer, which opens with its first record."""
        return config.consumer(**self._connection)


def connect(
    bootstrap_servers: str | None = None, security: Mapping[str, str] | None = None
) -> Client:
    """A client of these brokers, or of those that PENSTOCK_BOOTSTRAP_SERVERS names."""
    return Client(brokers(bootstrap_servers), dict(security or {}))
