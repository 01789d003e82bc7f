"""Forgets expired consumers, now and then, on the worker that leads."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from penstock.consumers.directory import Directory
from penstock.consumers.errors import ConsumerError
from penstock.kafka.clients import Connection
from penstock.kafka.errors import KafkaFault

log = logging.getLogger(__name__)

SWEEP_SECONDS = 60.0


class Sweeper:
    """A thread. Whoever forgets what others have forgotten already does no harm."""

    def __init__(
        self, connection: Callable[[], Connection], due: Callable[[], bool], every: float
    ) -> None:
        """``due`` says whether it is for this worker to sweep."""
        self._connection = connection
        self._due = due
        self._every = every
        self._told = ""
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="sweeper", daemon=True)

    def start(self) -> None:
        """Begin to sweep."""
        self._thread.start()

    def stop(self) -> None:
        """Sweep no more."""
        self._stopping.set()

    def _run(self) -> None:
        while not self._stopping.wait(self._every):
            if self._due():
                self._sweep()

    def _sweep(self) -> None:
        try:
            for place in Directory(self._connection()).sweep():
                log.info('consumer "%s" of %s/%d has expired, or its topic is gone', *place)
        except (KafkaFault, ConsumerError) as error:
            self._tell(str(error))
        except Exception:
            log.exception("expired consumers were not forgotten")
        else:
            self._told = ""

    def _tell(self, trouble: str) -> None:
        """Once, as long as it stays the same: where an ACL is missing, it does for good."""
        level = logging.DEBUG if trouble == self._told else logging.WARNING
        self._told = trouble
        log.log(level, "expired consumers were not forgotten: %s", trouble)
