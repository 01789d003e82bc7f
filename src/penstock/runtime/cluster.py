"""This worker's place in its cluster: whether it leads, and what it runs while it does.

The leader runs every connector. Membership tells of elections on its own thread; the work they
mean is done here, one after the other, on another.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from penstock.engine.lease import Membership as Standing
from penstock.kafka.errors import KafkaFault
from penstock.kafka.generation import generation_of
from penstock.runtime.errors import RequestError
from penstock.runtime.runner import Runner

log = logging.getLogger(__name__)

RETRY_SECONDS = 1.0


class Cluster:
    """Leadership and the runners that go with it. Thread-safe."""

    def __init__(self, topic: str, take_over: Callable[[], None]) -> None:
        self._topic = topic
        self._take_over = take_over
        self._runners: dict[str, Runner] = {}
        self._lock = threading.Lock()
        self._leading = False
        self._taking_over = False
        self._depositions = 0
        self._standing: Standing | None = None
        self._generation = 0
        self._stopping = threading.Event()
        self._took_over = threading.Event()
        self._work = ThreadPoolExecutor(1, thread_name_prefix="cluster")
        self.standby: Callable[[], bool] = lambda: False

    # What membership calls.

    def elected(self, metadata: bytes) -> None:
        """This worker leads, under ``metadata``; called again whenever the metadata changes."""
        with self._lock:
            self._standing = Standing(metadata, self._topic)
            self._generation = generation_of(metadata)
            newly = not self._leading and not self._taking_over
            self._taking_over = self._taking_over or newly
        if newly:
            self._work.submit(self._lead)

    def deposed(self) -> None:
        """This worker leads no longer: everything it runs is dropped at once."""
        with self._lock:
            self._leading = False
            self._depositions += 1
            self._took_over.clear()
            self._standing = None
            runners, self._runners = list(self._runners.values()), {}
        if not self._stopping.is_set():
            log.warning("this worker no longer leads; dropping %d connectors", len(runners))
        for runner in runners:
            runner.abandon()

    def _lead(self) -> None:
        """Take over, again and again until it has worked or this worker is no longer elected."""
        while (before := self._claim()) is not None:
            try:
                self._take_over()
            except (KafkaFault, RequestError) as error:
                log.warning("taking over failed: %s; trying again", error)
                self._stopping.wait(RETRY_SECONDS)
            except Exception:
                log.exception("taking over failed; trying again")
                self._stopping.wait(RETRY_SECONDS)
            else:
                if self._confirm(before):
                    return

    def _claim(self) -> int | None:
        """Begin to lead, if still elected; how often this worker has been deposed so far."""
        with self._lock:
            if self._standing is None or self._stopping.is_set():
                self._taking_over = False
                return None
            self._leading = True
            return self._depositions

    def _confirm(self, depositions: int) -> bool:
        """Whether the take-over holds: this worker was not deposed while it went on."""
        with self._lock:
            if depositions != self._depositions:
                return False
            self._taking_over = False
            self._took_over.set()
        log.info("this worker leads now")
        return True

    # What runners and the herder ask.

    @property
    def leading(self) -> bool:
        """Whether this worker leads."""
        return self._leading

    def standing(self) -> Standing:
        """The membership under which transactions are committed; KafkaFault while there is none."""
        standing = self._standing
        if standing is None:
            raise KafkaFault("this worker is not a member of its group just now")
        return standing

    def generation(self) -> int:
        """The group's generation, which grows with every election; goes into statuses."""
        return self._generation

    def health(self) -> tuple[str, str]:
        """Kafka Connect's health, and why."""
        if self._leading and self._took_over.is_set():
            return "healthy", "Worker has completed startup and is ready to handle requests."
        if self.standby():
            return "healthy", "Worker is ready; another worker of this group leads."
        return (
            "starting" if self._generation == 0 else "unhealthy",
            "The worker is not in its group just now: it joins by itself as soon as Kafka answers.",
        )

    def wait_until_settled(self, timeout: float) -> bool:
        """Whether this worker leads, or knows that another does, within ``timeout`` seconds."""
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline and not self._stopping.is_set():
            if self._took_over.wait(0.1) or self.standby():
                return True
        return False

    # Runners.

    def runner(self, name: str) -> Runner | None:
        """What runs a connector here, if anything does."""
        return self._runners.get(name)

    def put(self, name: str, runner: Runner) -> bool:
        """Take charge of ``runner``; False if this worker leads no longer."""
        with self._lock:
            if self._leading:
                self._runners[name] = runner
            return self._leading

    def take(self, name: str) -> Runner | None:
        """Give up charge of a connector's runner."""
        with self._lock:
            return self._runners.pop(name, None)

    def stop(self) -> None:
        """Halt everything, all at once, and lead no more."""
        self._stopping.set()
        with self._lock:
            self._leading = False
            runners, self._runners = list(self._runners.values()), {}
        if runners:
            with ThreadPoolExecutor(min(32, len(runners))) as pool:
                list(pool.map(Runner.halt, runners))
        self._work.shutdown(wait=False, cancel_futures=True)
