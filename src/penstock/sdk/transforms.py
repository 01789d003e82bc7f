"""The seam for single message transforms, over a batch at a time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar

import pyarrow as pa

from penstock.sdk.config import ConfigDef


class Transform(ABC):
    """Changes records on their way, after a source and before a sink.

    ``configure`` is called once, then ``apply`` any number of times: a pure function of the
    configuration and its argument. Picklable once it is configured. ``RecordError`` names one row
    of the batch it was given; ``errors.tolerance`` decides whether the worker goes on without it.
    """

    connect_class: ClassVar[str] = ""
    """The class of Kafka Connect that this one stands in for, under whose name it is listed."""

    aliases: ClassVar[tuple[str, ...]] = ()
    """Other class names that a configuration may use for it."""

    config_def: ClassVar[ConfigDef]
    """Its keys, without the prefix ``transforms.<alias>.``."""

    @abstractmethod
    def configure(self, config: Mapping[str, str]) -> None:
        """Called once, before anything else. Raises ``ConfigError``."""

    @abstractmethod
    def apply(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """A batch of the same layout (``penstock.sdk.batches``), rows in the same order.

        Rows may be dropped, and topics, keys and values changed. An ``offset`` column, if there
        is one, stays with its rows.
        """

    def apart(self, batch: pa.RecordBatch) -> pa.BooleanArray | None:
        """Rows that are applied by themselves, since they may get another schema than the others.

        None, if there are none. A batch has one schema for all its keys and one for its values.
        """
        return None
