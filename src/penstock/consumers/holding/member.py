"""A member of a consumer's group that does nothing but hold a slot and commit.

The group is a classic one; the member subscribes to the registry's topic and never reads it. As
long as it is the one that the broker knows by this slot, it may commit: a member that joins with
the same slot later fences it for good. A member whose session is over is lost, and never joins
again by itself: to go on, make sure that no other process came meanwhile, and make another.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from penstock.consumers.errors import Fenced, SessionOver
from penstock.consumers.registry.registry import TOPIC
from penstock.kafka.clients import Connection, group_consumer
from penstock.kafka.errors import (
    DENIED,
    PASSING,
    AccessDenied,
    BrokerUnavailable,
    describe,
)
from penstock.kafka.topics import PartitionId

log = logging.getLogger(__name__)

SESSION_MS = 10_000
LONGEST_POLL_MS = 86_400_000
COMMIT_SECONDS = 20.0
STOP_SECONDS = 10.0
RETRY_SECONDS = 0.1
ANSWER_SECONDS = 0.005
JOINING_SECONDS, POLL_SECONDS = 0.01, 0.1
"""How often the client is polled, before it has joined and later."""
_REBALANCING = frozenset({KafkaError.REBALANCE_IN_PROGRESS, KafkaError.ILLEGAL_GENERATION})
_FENCED = frozenset({KafkaError.FENCED_INSTANCE_ID, KafkaError._FATAL})
_LOST = KafkaError.UNKNOWN_MEMBER_ID


class Member:
    """Joins at once, on a thread of its own. Thread-safe."""

    def __init__(
        self,
        connection: Connection,
        group: str,
        slot: str,
        session_ms: int = SESSION_MS,
        *,
        on_trouble: Callable[[], None] = lambda: None,
    ) -> None:
        """``on_trouble`` is called, on its thread, when it is fenced or lost, or refused."""
        self.slot = slot
        self.group = group
        self._joined = threading.Event()
        self._stopping = threading.Event()
        self._parked = threading.Event()
        self._requests: SimpleQueue[tuple[list[TopicPartition], Future[None]] | None] = (
            SimpleQueue()
        )
        self._answers: SimpleQueue[KafkaError | None] = SimpleQueue()
        """To commits: one at a time is on its way."""
        self._id = ""
        self.ids: set[str] = set()
        """All ids that the group has known it by."""
        self._trouble: KafkaError | None = None
        self._on_trouble = on_trouble
        self._consumer = group_consumer(
            {
                **connection.settings(),
                **_settings(group, slot, session_ms),
                "on_commit": self._answered,
            }
        )
        self._consumer.subscribe([TOPIC], on_assign=self._assigned, on_lost=self._lost)
        self._thread = threading.Thread(target=self._run, name=f"hold-{group}", daemon=True)
        self._thread.start()

    @property
    def id(self) -> str:
        """How the group knows it; empty before it has joined."""
        return self._id

    @property
    def fenced(self) -> bool:
        """Whether another process has the slot."""
        return self._trouble is not None and _is_final(self._trouble)

    @property
    def lost(self) -> bool:
        """Whether its session is over: another process may have the slot."""
        return self._trouble is not None and self._trouble.code() == _LOST

    def wait_until_joined(self, seconds: float) -> None:
        """Return when it may commit; a fault of the kafka room, or Fenced, if it may not."""
        deadline = time.monotonic() + seconds
        while not self._joined.wait(0.05):
            if self._trouble is not None:
                raise self._fault(self._trouble)
            if time.monotonic() > deadline:
                raise BrokerUnavailable(
                    f"could not join group {self.group} in {seconds:.0f} s: a member that was "
                    "killed may still count as one. Try again in a moment."
                )

    def commit(self, offsets: Mapping[PartitionId, int]) -> None:
        """Store positions; Fenced if another process holds the slot, SessionOver if it is lost."""
        committed = [TopicPartition(t, p, offset) for (t, p), offset in offsets.items()]
        deadline = time.monotonic() + COMMIT_SECONDS
        while True:
            if self._trouble is not None:
                raise self._fault(self._trouble)
            try:
                self._commit(committed)
            except KafkaException as error:
                code = error.args[0].code()
                passing = code in _REBALANCING | PASSING
                if not passing or time.monotonic() > deadline:
                    raise self._fault(error.args[0]) from error
                time.sleep(RETRY_SECONDS)
            else:
                return

    def _commit(self, offsets: list[TopicPartition]) -> None:
        """Have our thread do it: a commit blocks while another thread polls."""
        done: Future[None] = Future()
        self._requests.put((offsets, done))
        try:
            done.result(COMMIT_SECONDS)
        except TimeoutError:
            done.cancel()
            raise KafkaException(KafkaError(KafkaError._TIMED_OUT)) from None

    def _serve(self) -> None:
        """What others want committed, which is done at once; else it is time to poll."""
        try:
            wait = POLL_SECONDS if self._joined.is_set() else JOINING_SECONDS
            request = self._requests.get(timeout=wait)
        except Empty:
            return
        if request is not None:
            self._commit_now(*request)

    def _commit_now(self, offsets: list[TopicPartition], done: Future[None]) -> None:
        if not done.set_running_or_notify_cancel():
            return  # the caller has given up, or tries again
        try:
            self._consumer.commit(offsets=offsets, asynchronous=True)
            self._await_answer()
            done.set_result(None)
        except KafkaException as error:
            if error.args[0].code() == _LOST:
                self._fail(error.args[0])
            done.set_exception(error)

    def _await_answer(self) -> None:
        """Polls meanwhile: else it would not learn that it is lost before brokers answer again."""
        while self._answers.empty():
            self._poll(ANSWER_SECONDS)
            if self._stopping.is_set() or self.fenced or self.lost:
                raise KafkaException(self._trouble or KafkaError(KafkaError._STATE))
        error = self._answers.get()
        if error is not None:
            raise KafkaException(error)

    def _answered(self, error: KafkaError | None, _: list[TopicPartition]) -> None:
        self._answers.put(error)

    def _refuse_the_rest(self) -> None:
        """Callers that still wait for a commit get an error."""
        while not self._requests.empty():
            request = self._requests.get()
            if request is not None and request[1].set_running_or_notify_cancel():
                trouble = self._trouble or KafkaError(KafkaError._STATE)
                request[1].set_exception(KafkaException(trouble))

    def stop(self) -> None:
        """End the thread. The group keeps the slot until its session is over."""
        self._stopping.set()
        self._requests.put(None)
        deadline = time.monotonic() + STOP_SECONDS
        while self._thread.is_alive() and not self._parked.is_set():
            self._thread.join(0.05)
            if time.monotonic() > deadline:
                return

    def _run(self) -> None:
        try:
            while not (self._stopping.is_set() or self.fenced or self.lost):
                self._step()
        finally:
            self._consumer.close()
            self._refuse_the_rest()

    def _step(self) -> None:
        self._serve()
        self._poll(0)

    def _poll(self, seconds: float) -> None:
        try:
            message = self._consumer.poll(seconds)
        except KafkaException as error:
            self._note(error.args[0])
            self._stopping.wait(RETRY_SECONDS)
            return
        if message is not None and (trouble := message.error()) is not None:
            self._note(trouble)

    def _note(self, error: KafkaError) -> None:
        if _is_final(error) or error.code() in DENIED | {_LOST}:
            self._fail(error)
        else:
            log.debug("group %s: %s", self.group, describe(error))

    def _fail(self, error: KafkaError) -> None:
        self._trouble = error
        self._on_trouble()

    def _assigned(self, consumer: Consumer, _: list[Any]) -> None:
        consumer.assign([])  # it is here to be a member, not to read
        known = consumer.memberid() or ""
        if self._id and known != self._id:
            # It was away for longer than its session: the name may have been used meanwhile.
            self._fail(KafkaError(_LOST))
        self._id = self._id or known
        self.ids.add(known)
        self._joined.set()

    def _lost(self, consumer: Consumer, _: list[Any]) -> None:
        """As soon as this has returned, the client would join again, and so fence the
        present holder of the slot, if it were still to be a member."""
        self._fail(KafkaError(_LOST))
        self._refuse_the_rest()
        try:
            consumer.unsubscribe()
        except KafkaException as error:
            self._note(error.args[0])
            if not self.fenced:
                self._park()

    def _park(self) -> None:
        """Never returns: it stays, idle, as long as the process."""
        self._parked.set()
        threading.Event().wait()

    def _fault(self, error: KafkaError) -> Exception:
        if _is_final(error):
            return Fenced.of(self.group)
        if error.code() == _LOST:
            return SessionOver(f'consumer "{self.group}" was away for longer than its session')
        if error.code() in DENIED:
            return AccessDenied(f"use group {self.group}", error)
        return BrokerUnavailable(describe(error))


def _is_final(error: KafkaError) -> bool:
    return error.fatal() or error.code() in _FENCED


def _settings(group: str, slot: str, session_ms: int) -> dict[str, Any]:
    return {
        "group.id": group,
        "group.protocol": "classic",
        "group.instance.id": slot,
        "session.timeout.ms": session_ms,
        "heartbeat.interval.ms": max(500, session_ms // 5),
        "max.poll.interval.ms": LONGEST_POLL_MS,
        "enable.auto.commit": False,
        "auto.offset.reset": "latest",
        "partition.assignment.strategy": "range",
        "allow.auto.create.topics": False,
    }
