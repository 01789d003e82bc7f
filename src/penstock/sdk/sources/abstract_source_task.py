"""A source task of three methods: what it reads, and in which form, is all an author writes."""

from __future__ import annotations

import logging
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Final, final

from penstock.sdk.batches import SourceBatch
from penstock.sdk.errors import RecordError
from penstock.sdk.offsets import ChangedOffset, OffsetReader
from penstock.sdk.records import SourceRecord
from penstock.sdk.sources.backoff import Backoff, BackoffConfig
from penstock.sdk.sources.intake import Intake, PromptIntake, ThreadIntake
from penstock.sdk.sources.iterators import Item
from penstock.sdk.sources.offset_manager import OffsetManager
from penstock.sdk.sources.source_config import SourceCommonConfig
from penstock.sdk.tasks import SourceTask

log = logging.getLogger(__name__)

LAST_PULL: Final = 0.5
"""Seconds that an end waits for the item that is just being pulled."""
AFTER_CLOSE: Final = 2.0
"""Seconds that a blocked iterator has to notice that its resources were closed."""
FINAL: Final = ("start", "poll", "finish", "committed", "stop")


class AbstractSourceTask(SourceTask):
    """Polls an iterator, backs off when it is dry, and closes whatever happens.

    An author writes ``configure``, ``get_iterator`` and ``close_resources``; each is called once
    per lease, in this order. ``start``, ``poll``, ``finish``, ``committed`` and ``stop`` are final.

    **Threads.** The iterator is made and asked on a thread of its own that runs ahead up to twice
    ``max.poll.records`` records, or one batch, or 4 MB, so that it may block on storage while the
    lease goes on committing and hears when to finish. If it always answers within some
    milliseconds, set ``iterator_is_prompt``: it is then asked by the thread that calls the other
    two methods, which is faster. ``offset_manager`` is safe on any thread.

    **Dry.** When the iterator has nothing, it is asked again after a pause that grows up to 5 s. It
    is not rebuilt: it may have records again (``penstock.sdk.sources.iterators``).

    **Stop.** Nothing more is pulled, what was pulled is produced and committed, then
    ``close_resources`` is called, all within 5 s. An iterator that is blocked at that time should
    return or raise when its resources are closed; what it gives after that is dropped, and read
    again by the next lease.

    **Errors** of the iterator reach the worker after the records before them are committed
    (``penstock.sdk.errors``). After a ``RetriableError``, and after a ``RecordError`` that is
    tolerated, the iterator is asked again; a generator that raises has ended, so use an object or
    ``restarting`` for that. What no record can be made of is ``entry.bad_record(…)``: the state
    that it carries holds from then on, so that the source goes on behind it.

    **Offsets.** Each record, or batch, carries the state of its entry once it is delivered:
    ``entry.source_record(…)``, ``entry.source_batch(…)``. ``self.offset_manager`` answers with the
    newest state of each object, at first that with which the lease began.
    """

    iterator_is_prompt: ClassVar[bool] = False
    """Whether the iterator never blocks for long, and needs no thread of its own."""

    iterator_needs_no_pause: ClassVar[bool] = False
    """Whether a prompt iterator that is dry is asked again at every ``poll``: the worker's own
    pauses are enough where asking costs next to nothing, the status of a file say."""

    offset_manager: OffsetManager
    config: SourceCommonConfig
    """What ``configure`` returned."""

    _intake: Intake | None = None
    _closed = False

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        taken = [name for name in FINAL if name in vars(cls)]
        if taken:
            raise TypeError(
                f"{cls.__qualname__} defines {', '.join(taken)}, which the framework does itself. "
                "Write configure, get_iterator and close_resources."
            )

    @abstractmethod
    def configure(self, props: Mapping[str, str]) -> SourceCommonConfig:
        """Check the task's configuration, and open what takes no time.

        Return ``SourceCommonConfig(CONFIG, props)``, or a subclass: it raises a ``ConfigError``
        that names every missing or invalid key.
        """

    @abstractmethod
    def get_iterator(self, backoff_config: BackoffConfig) -> Iterator[Item | None]:
        """An iterator over what is behind the offsets in ``self.offset_manager``.

        ``Backoff(backoff_config)`` makes pauses of up to 5 s that end when the task is stopped: for
        storage that says "later". Another profile, or none, will do as well.
        """

    @abstractmethod
    def close_resources(self) -> None:
        """Close everything, quickly, also what only ``configure`` has opened before it failed.

        What it raises is logged.
        """

    @final
    def start(self, config: Mapping[str, str], offsets: OffsetReader) -> None:
        self.offset_manager = OffsetManager(offsets)
        self.config = self.configure(config)
        backoff = BackoffConfig()
        if self.iterator_is_prompt:
            pauses = None if self.iterator_needs_no_pause else Backoff(backoff)
            iterator = self.get_iterator(backoff)
            self._intake = PromptIntake(iterator, backoff, self._note, pauses)
        else:
            most = 2 * self.config.max_poll_records
            self._intake = ThreadIntake(
                lambda: self.get_iterator(backoff), backoff, self._note, most
            )

    @final
    def poll(self) -> SourceBatch | Sequence[SourceRecord] | None:
        intake = self._started
        # Before it is asked: an item that comes in between is taken by the next poll.
        self.busy = intake.busy
        try:
            return intake.take(self.config.max_poll_records, self.batch_bytes)
        except RecordError as error:
            # Before the iterator is asked again, which the next poll brings about.
            self._note_bad(error)
            raise

    @final
    def finish(self) -> Iterable[SourceBatch | Sequence[SourceRecord]]:
        intake = self._started
        intake.end()
        intake.join(LAST_PULL)
        return iter(self._rest, None)

    def _rest(self) -> SourceBatch | Sequence[SourceRecord] | None:
        try:
            return self._started.take(self.config.max_poll_records, self.batch_bytes)
        except Exception as error:  # noqa: BLE001 (the next lease meets it again, if it lasts)
            log.info("an error of the source comes as its task ends: %s", error)
            return None

    @final
    def committed(self, offsets: Sequence[ChangedOffset]) -> None:
        self.offset_manager.committed(offsets)

    @final
    def stop(self) -> None:
        if self._closed:
            return
        self._closed = True
        if self._intake is not None:
            self._intake.end()
        try:
            self.close_resources()
        except Exception as error:  # noqa: BLE001 (the lease's own outcome counts)
            log.warning("close_resources of %s: %s", type(self).__qualname__, error)
        if self._intake is not None and not self._intake.join(AFTER_CLOSE):
            log.warning("the iterator of %s is blocked and was left", type(self).__qualname__)

    @property
    def _started(self) -> Intake:
        assert self._intake is not None, "start comes first"  # noqa: S101 (narrows the type)
        return self._intake

    def _note_bad(self, error: RecordError) -> None:
        if error.source_partition is not None and error.source_offset is not None:
            self.offset_manager.add(error.source_partition, error.source_offset)

    def _note(self, item: Item) -> None:
        if isinstance(item, SourceRecord):
            self.offset_manager.add(item.source_partition, item.source_offset)
        else:
            for partition, offset in item.offsets:
                self.offset_manager.add(partition, offset)
