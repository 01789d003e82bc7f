"""Whether the brokers answer, checked at most once a second however often it is called."""

from __future__ import annotations

import threading
import time

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

FRESH_SECONDS = 1.0
PATIENCE_SECONDS = 3.0


class Reachability:
    """Callable. Thread-safe."""

    def __init__(self, admin: AdminClient) -> None:
        self._admin = admin
        self._lock = threading.Lock()
        self._asked = 0.0
        self._answer = True

    def __call__(self) -> bool:
        with self._lock:
            if time.monotonic() - self._asked > FRESH_SECONDS:
                self._answer = self._ask()
                self._asked = time.monotonic()
            return self._answer

    def _ask(self) -> bool:
        try:
            self._admin.list_topics(timeout=PATIENCE_SECONDS)
        except KafkaException:
            return False
        return True
