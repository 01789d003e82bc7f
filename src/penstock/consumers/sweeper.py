"""Forgets expired consumers, now and then, on the worker that leads."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection

from penstock.consumers.directory import Directory
from penstock.kafka.clients import Connection
from penstock.kafka.errors import KafkaFault
from penstock.sdk.errors import PenstockError

log = logging.getLogger(__name__)

SWEEP_SECONDS = 60.0


class Sweeper:
    """A thread. Deleting what another worker has deleted already does no harm."""

    def __init__(
        self, connection: Callable[[], Connection], due: Callable[[], bool], every: float
    ) -> None:
        """``due`` says whether it is for this worker to sweep."""
        self._connection = connection
        self._due = due
        self._every = every
        self._told: set[str] = set()
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
        before, self._told = self._told, set()

        def tell(trouble: str) -> None:
            self._tell(trouble, before)

        try:
            for key in Directory(self._connection()).sweep(tell):
                log.info('consumer "%s" of %s/%d has expired, or its topic is gone', *key)
        except (KafkaFault, PenstockError) as error:
            tell(str(error))
        except Exception:
            log.exception("expired consumers were not deleted")

    def _tell(self, trouble: str, before: Collection[str]) -> None:
        """Once, as long as it stays the same: where an ACL is missing, it does for good."""
        known = trouble in before or trouble in self._told
        self._told.add(trouble)
        level = logging.DEBUG if known else logging.WARNING
        log.log(level, "expired consumers were not deleted: %s", trouble)
