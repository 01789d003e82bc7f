"""The seam between records and the bytes that Kafka holds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import pyarrow as pa

from penstock.sdk.config import ConfigDef


@dataclass(frozen=True)
class Decoded:
    """A run of rows with one schema; ``start`` is where it begins in what was decoded."""

    start: int
    array: pa.Array
    field: pa.Field


class Converter(ABC):
    """Turns a column of keys, or of values, into bytes and back.

    ``configure`` is called once, then ``encode`` and ``decode`` any number of times. They are pure
    functions of the configuration and their arguments, and leave no trace but caches: one object
    may serve several threads in turn. It must be picklable once it is configured, since it is
    made on the worker and used in the processes of Spark.

    A converter that asks another system raises ``RetriableError`` if that does not answer;
    ``errors.retry.timeout`` says how long it is tried again.

    A row that cannot be converted raises ``RecordError`` with that row; ``errors.tolerance``
    decides whether the worker goes on without it. Its message says what was wrong and, where one
    exists, which setting of the converter would fit the data.
    """

    connect_class: ClassVar[str] = ""
    """The class of Kafka Connect that this one stands in for, under whose name it is listed."""

    aliases: ClassVar[tuple[str, ...]] = ()
    """Other class names that a configuration may use for it."""

    config_def: ClassVar[ConfigDef]
    """Its keys, without the prefix ``key.converter.`` or ``value.converter.``."""

    per_topic: ClassVar[bool] = False
    """Whether what is written depends on the topic: then ``encode_for`` is called."""

    @abstractmethod
    def configure(self, config: Mapping[str, str], is_key: bool) -> None:
        """Called once, before anything else. Raises ``ConfigError``."""

    @abstractmethod
    def encode(self, array: pa.Array, field: pa.Field) -> pa.Array:
        """A binary array with as many rows, in the same order.

        ``field`` carries the schema (see ``penstock.sdk.schema``). A null row has no key, or is a
        tombstone: it stays null.
        """

    def encode_for(self, topic: str, array: pa.Array, field: pa.Field) -> pa.Array:
        """As ``encode``, of rows that go to one topic."""
        return self.encode(array, field)

    @abstractmethod
    def decode(self, data: pa.Array) -> list[Decoded]:
        """A binary array as consecutive runs of rows that together cover all rows in order.

        A null row belongs to whatever run is around it. No rows, no runs.
        """


def side(is_key: bool) -> str:
    """The name of the column, and the prefix of the settings, that a converter serves."""
    return "key" if is_key else "value"
