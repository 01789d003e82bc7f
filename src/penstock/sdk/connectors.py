"""What a connector author implements for the part that lives in the worker.

Life of a connector object (all calls on the worker, one at a time, never two at once):
``start`` → ``task_configs`` → (a source's ``look`` and ``plan`` …) → ``stop``. A new object is made
after every restart or change of configuration. ``alter_offsets``, ``validate`` and
``exclusive_targets`` are called on an object of their own that was never started. No call may block
for longer than a few seconds.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, NamedTuple

from penstock.sdk.config import ConfigDef
from penstock.sdk.guarantees import Guarantee
from penstock.sdk.offsets import ChangedOffset, OffsetReader, SourceOffset, SourcePartition
from penstock.sdk.tasks import SinkTask, SourceTask


class TopicPartition(NamedTuple):
    """One partition of a Kafka topic."""

    topic: str
    partition: int


class Connector(ABC):
    """Common part of both kinds; implement SourceConnector or SinkConnector."""

    config_def: ClassVar[ConfigDef]
    """Every key the connector understands; described once, used for validation, REST and docs."""

    version: ClassVar[str] = "unknown"
    connect_class: ClassVar[str] = ""
    """Kafka Connect's class name, where this connector stands in for one of its connectors: the
    name under which it is listed."""
    aliases: ClassVar[tuple[str, ...]] = ()
    """Other class names that a configuration may use for it, those of other makers' connectors
    that it stands in for as well. Upper and lower case need not match."""
    converters: ClassVar[Mapping[str, str]] = {}
    """``key.converter``, ``value.converter`` and ``header.converter`` for configurations that name
    none, in place of the worker's: for records that make sense in one form only."""
    example: ClassVar[Mapping[str, str]] = {}
    """A configuration to begin with, without the connector's name: shown by ``penstock describe
    plugin``. Secrets in it are references to a provider."""
    worker_keys: ClassVar[tuple[str, ...]] = ()
    """Properties of the worker that the connector and its tasks get in their config, for limits
    that the operator sets. What a user writes under these names is dropped."""
    guarantee: ClassVar[Guarantee | None] = None
    """What it promises of every record. The contract kit tests it for that, ``penstock describe
    plugin`` shows it. Where it depends on the configuration, this is the best there is, and
    ``guarantee_of`` tells. None: not declared, which the kit takes for exactly once."""
    guarantee_limits: ClassVar[str] = ""
    """What the guarantee depends on, as the rest of a sentence that begins with it: ``as long as no
    object changes``, say."""

    @classmethod
    def guarantee_of(
        cls,
        config: Mapping[str, str],  # noqa: ARG003 (most promise the same with any)
    ) -> Guarantee | None:
        """The guarantee with this configuration, which is valid. Must be quick and ask no
        service."""
        return cls.guarantee

    def validate(self, config: Mapping[str, str]) -> Sequence[tuple[str, str]]:
        """Checks over several keys: (key, message) pairs. Each key alone was checked before."""
        return ()

    def exclusive_targets(self, config: Mapping[str, str]) -> Mapping[str, str]:
        """What no other connector may write to: a name of it for each key of ``config`` at fault.

        For example ``{"file": "file:/data/out.txt"}``. A configuration is refused when another
        connector of the cluster has an equal name, whatever its key. Called for every stored
        connector whenever one is created, so it must be quick and ask no service.
        """
        return {}

    def start(self, config: Mapping[str, str]) -> None:  # noqa: B027 (most need nothing)
        """Called once, before anything else. An error turns the connector FAILED."""

    @abstractmethod
    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """One configuration per task, at most ``max_tasks`` of them."""

    def stop(self) -> None:  # noqa: B027 (most need nothing)
        """Release what ``start`` took. Called once, also after a failed ``start``."""


class SourceConnector(Connector):
    """Brings records from elsewhere into topics."""

    task_class: ClassVar[type[SourceTask]]
    partition_keys: ClassVar[tuple[str, ...]] = ()
    """Order of the keys of this connector's source partitions, as Kafka Connect would write it."""
    unlisted_offset_keys: ClassVar[tuple[str, ...]] = ()
    """Keys of its offsets that users need not see: what a task notes for the next one beside a
    position. They are stored and handed to tasks, but not listed, and offsets that a user sets
    are without them."""

    committed: OffsetReader = OffsetReader()
    """All that is committed of the connector. The worker sets it before ``alter_offsets``."""

    def look(self, offsets: OffsetReader) -> bool | None:
        """Whether there is anything new beyond ``offsets``; None when only a task can tell.

        Called several times a second while the connector is idle, so it must be cheap. May answer
        True too often, at the price of an empty turn; must not answer False while records wait.
        """
        return None

    def wake_on_news(self, wake: Callable[[], None]) -> None:
        """Have ``wake`` called, from any thread, once ``look`` may find something.

        Optional, for sources that tell of changes by themselves: their records need not wait for
        the next look. Called after each look that found nothing; looks go on all the same, so
        nothing depends on it. ``wake`` never blocks, and may be called for nothing.
        """

    def plan(
        self, offsets: OffsetReader, tasks: Sequence[int]
    ) -> Sequence[Mapping[str, str]] | None:
        """What each of ``tasks`` is to do in the coming turn, as configuration for its lease only.

        Asked before each turn, when no task runs and ``offsets`` are all that is committed, so
        that work can be divided again and move between tasks. ``tasks`` are the numbers of
        those that may run: a FAILED one is left out until it is restarted. Answer with one
        mapping for each, in that order, laid over the configuration from ``task_configs`` and
        never stored; None when there is nothing to add. An error is logged, no task runs, and the
        connector is asked again a second later, as after an error in ``look``.
        """
        return None

    def alter_offsets(
        self,
        config: Mapping[str, str],
        offsets: Sequence[tuple[SourcePartition | None, SourceOffset | None]],
    ) -> bool | Sequence[ChangedOffset]:
        """Check offsets that a user wants to set; None resets that partition.

        Raise an error to refuse: its text reaches the user unchanged. ``NotImplementedError``
        says that offsets can never be altered from outside. Return True when this connector keeps
        no positions anywhere else; or the offsets to store instead of ``offsets``, where what a
        user sees is not what is stored. ``self.committed`` is what is stored now. May be called
        twice for the same request.
        """
        return False


class SinkConnector(Connector):
    """Takes records from topics elsewhere. Each task gets the whole configuration, unless
    ``task_configs`` is overridden."""

    task_class: ClassVar[type[SinkTask]]

    def start(self, config: Mapping[str, str]) -> None:
        """Called once, before anything else; keeps ``config`` for the tasks. An error turns the
        connector FAILED."""
        self._whole_config = dict(config)

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """One configuration per task, at most ``max_tasks`` of them."""
        return [dict(self._whole_config) for _ in range(max_tasks)]

    def alter_offsets(
        self, config: Mapping[str, str], offsets: Mapping[TopicPartition, int | None]
    ) -> bool | Mapping[TopicPartition, int | None]:
        """As ``SourceConnector.alter_offsets``, for the offsets of the sink's consumer group."""
        return False
