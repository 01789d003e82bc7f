"""All librdkafka clients of this process: created here, and never destroyed on a wrong thread.

librdkafka aborts the process if a client is destroyed on one of its own threads. Python destroys
an object wherever its last reference is dropped, which may be there: in the callback of a request,
in a closure that such a callback releases, or by the garbage collector, which runs on whichever
thread allocates next. So losing its last reference does not destroy such a client: its finalizer
hands it to the reaper, which destroys it on a thread of ours.

A broker that has just come back may answer that the cluster has no brokers. A client then drops all
its brokers and never connects again (librdkafka issue 5301). So every client can be reminded of its
bootstrap servers.

No other module creates a Producer, Consumer or AdminClient of confluent_kafka, and clients made
with the library's own functions are ``Owned`` too: ``tests/unit/kafka/test_client_life.py`` checks.
"""

from __future__ import annotations

import os
import threading
import time
import warnings
from collections.abc import Mapping
from typing import Any
from weakref import WeakSet

from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient

from penstock.kafka import librdkafka
from penstock.kafka.reaper import keep_for_ever, reaper

LONGEST_PURGE = 30.0


_living: WeakSet[Owned] = WeakSet()
_counting = threading.Lock()


def remind_clients() -> None:
    """Tell every client of this process its bootstrap servers again. Never waits for a broker."""
    with _counting:
        living = list(_living)
    for client in living:
        client.remind()


class Owned:
    """A client that the reaper destroys, unless it was destroyed before.

    A subclass calls ``born`` when its client exists, ``closing`` before it closes the client, and
    ``ended`` when it is destroyed.
    """

    goes_with_memory = True
    _born_in: int | None = None
    """The process that the client's threads belong to; None if there is no client."""

    def born(self, settings: Mapping[str, Any]) -> None:
        """The client exists, in this process."""
        self._servers = str(settings.get("bootstrap.servers", ""))
        self._reminding = threading.Lock()
        self._closing = False
        self._born_in = os.getpid()
        reaper().ensure()
        with _counting:
            _living.add(self)

    def closing(self) -> None:
        """The client is about to be closed: its handle must not be used any more."""
        with self._reminding:
            self._closing = True

    def ended(self) -> None:
        """The client no longer exists."""
        self._born_in = None

    def handle(self) -> int | None:
        """The library's handle; None where it is not certain."""
        known = librdkafka.available() and librdkafka.holds(self)
        return librdkafka.handle(self) if known else None

    def remind(self) -> None:
        """Tell the client its bootstrap servers again, in case it believes that there are none."""
        with self._reminding:
            if self._closing or self._born_in != os.getpid():
                return
            if (found := self.handle()) is not None:
                librdkafka.loaded().call.brokers_add(found, self._servers.encode())

    def end(self) -> None:
        """Destroy the client, which is no longer used."""
        raise NotImplementedError

    def __del__(self) -> None:
        if self._born_in is None:
            return
        if self._born_in == os.getpid():
            # Python calls this only once: when the reaper drops its reference, the memory is freed.
            reaper().take(self)
        else:
            keep_for_ever(self)  # forked without its threads: they cannot be joined


class OwnedAdmin(Owned, AdminClient):
    """An admin client. Requests still pending when it is dropped are abandoned."""

    def __init__(self, settings: Mapping[str, Any], **more: Any) -> None:
        super().__init__(dict(settings), **more)
        self.born(settings)

    def end(self) -> None:
        """Destroy the client."""
        self.closing()
        self.__exit__(None, None, None)


class OwnedProducer(Owned, Producer):
    """A producer. Records not yet sent when it is dropped are never sent."""

    def __init__(self, settings: Mapping[str, Any], **more: Any) -> None:
        super().__init__(dict(settings), **more)
        self.born(settings)

    def end(self) -> None:
        """Destroy the client. ``close`` alone would wait forever for unsent records."""
        self.closing()
        self.purge()
        deadline = time.monotonic() + LONGEST_PURGE
        while self.flush(1.0):
            if time.monotonic() > deadline:
                raise TimeoutError(f"records were still in flight after {LONGEST_PURGE:.0f} s")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an open transaction: its successor aborts it
            self.close()


class OwnedConsumer(Owned, Consumer):
    """A consumer; its creator closes it."""

    def __init__(self, settings: Mapping[str, Any], **more: Any) -> None:
        super().__init__(dict(settings), **more)
        self.born(settings)

    def close(self) -> None:
        """Leave the group, if it is in one, and destroy the client."""
        self.closing()
        super().close()
        self.ended()

    def end(self) -> None:
        """Destroy the client."""
        self.close()
