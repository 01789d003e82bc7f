"""The seam for predicates: which records a transform is for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar

import pyarrow as pa

from penstock.sdk.config import ConfigDef


class Predicate(ABC):
    """Says of every record of a batch whether it is one of those that are meant.

    ``configure`` is called once, then ``test`` any number of times: a pure function of the
    configuration and its argument. Picklable once it is configured.
    """

    connect_class: ClassVar[str] = ""
    """The class of Kafka Connect that this one stands in for, under whose name it is listed."""

    aliases: ClassVar[tuple[str, ...]] = ()
    """Other class names that a configuration may use for it."""

    config_def: ClassVar[ConfigDef]
    """Its keys, without the prefix ``predicates.<alias>.``."""

    @abstractmethod
    def configure(self, config: Mapping[str, str]) -> None:
        """Called once, before anything else. Raises ``ConfigError``."""

    @abstractmethod
    def test(self, batch: pa.RecordBatch) -> pa.BooleanArray:
        """A mask with as many rows as ``batch`` (``penstock.sdk.batches``), none of them null."""
