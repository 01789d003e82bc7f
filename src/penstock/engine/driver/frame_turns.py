"""Runs frame turns, a few at a time: each on its own thread, as Spark jobs with its own tag."""

from __future__ import annotations

import contextlib
import logging
import math
import sys
import threading
import time
import traceback
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from penstock.engine.carriers.asking import Answerer
from penstock.engine.carriers.carrier import Cause
from penstock.engine.carriers.hub import Hub
from penstock.engine.driver.session import LazySession
from penstock.engine.driver.turn_faults import judged
from penstock.engine.driver.waiting_jobs import awaits_executor
from penstock.engine.frames.turn_order import TurnOutcome
from penstock.logs.subject import about

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = logging.getLogger(__name__)

POOL = "turns"
AT_ONCE = 4
"""How many turns may run at the same time. Others wait."""
WATCH_SECONDS = 2.0
"""How often a turn is looked at while it runs; few turns run for so long."""


class Turn(Protocol):
    """What is run: one turn of one connector. As a text, what Spark's UI shows of it."""

    @property
    def connector(self) -> str:
        """Whose turn it is."""

    def run(self, spark: SparkSession, confirm: Confirm, question: Confirm) -> TurnOutcome:
        """Run it on this thread; may raise whatever Spark and connectors do."""


Confirm = Callable[[], bool]


@dataclass(frozen=True)
class TurnDone:
    """How a turn ended: with an outcome; with an error of its own; or it was lost."""

    seconds: float
    outcome: TurnOutcome | None = None
    error: Exception | None = None
    """The connector's, or of its records: trying again does not help."""
    cause: Cause | None = None
    detail: str = ""


class FrameTurns:
    """The turns of one worker. Thread-safe."""

    def __init__(self, session: LazySession, hub: Hub, certificate: str) -> None:
        self.session = session
        self.hub = hub
        self.certificate = certificate
        self.places = threading.BoundedSemaphore(AT_ONCE)

    def begin(self, turn: Turn, wanted: Confirm, done: Callable[[TurnDone], None]) -> RunningTurn:
        """Run ``turn``; ``done`` is called once, on its thread, unless it is revoked before.

        ``wanted`` is asked for each of its tasks before that begins (rule 10).
        """
        return RunningTurn(self, turn, wanted, done)


class RunningTurn:
    """One turn that was begun. Thread-safe."""

    def __init__(
        self,
        turns: FrameTurns,
        turn: Turn,
        wanted: Confirm,
        done: Callable[[TurnDone], None],
    ) -> None:
        self._turns = turns
        self._turn = turn
        self._done = done
        self._wanted = wanted
        self._answerer = Answerer(turns.hub, turns.certificate, self._asked)
        self._tag = f"penstock-turn-{uuid.uuid4().hex}"
        self._revoked = threading.Event()
        self._spark: SparkSession | None = None
        self._lock = threading.Lock()
        self._placed = threading.Event()
        self.began = time.monotonic()
        """When it was begun or, if it had to wait, when it could go on."""
        self.heard = self.began
        """When it was begun, was last seen to wait for an executor, or a task of it last asked
        whether it is still wanted."""
        self._starved = -math.inf
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="frame-turn", daemon=True)
        self._thread.start()
        threading.Thread(target=self._watch, name="frame-turn-watch", daemon=True).start()

    @property
    def waits(self) -> bool:
        """Whether it waits for Spark or for other turns."""
        return self._spark is None

    @property
    def awaits_executor(self) -> bool:
        """Whether no executor has a place for any of its tasks, as far as is known."""
        return not self._over.is_set() and time.monotonic() - self._starved < 3 * WATCH_SECONDS

    def _watch(self) -> None:
        """Waiting for an executor, however long, is no hang (rule 8)."""
        while not self._over.wait(WATCH_SECONDS):
            with contextlib.suppress(Exception):  # Spark may be about to end
                if self._spark is not None and awaits_executor(self._spark, self._tag):
                    self.heard = self._starved = time.monotonic()

    def where(self) -> str:
        """What its thread is doing."""
        frame = sys._current_frames().get(self._thread.ident or 0)
        return "".join(traceback.format_stack(frame)[-6:]) if frame else ""

    def revoke(self) -> None:
        """Cancel it: no task of it begins any more. One that has begun may still commit, until its
        id is fenced. ``done`` is not called any more."""
        self._answerer.revoke()
        self._revoked.set()
        self._over.set()
        self._give_back()  # it may hang in the connector's own code
        if (spark := self._spark) is not None:
            with contextlib.suppress(Exception):
                spark.sparkContext.cancelJobsWithTag(self._tag)

    def _asked(self) -> bool:
        self.heard = time.monotonic()
        return self._wanted()

    def _run(self) -> None:
        with about(self._turn.connector):
            self._turns.places.acquire()
            self._placed.set()
            try:
                done = self._ended()
            except Exception as error:
                log.exception("the turn's end is not clear")
                done = TurnDone(0.0, cause=Cause.VANISHED, detail=str(error))
            finally:
                self._over.set()
                self._give_back()
            self._answerer.revoke()
            if not self._revoked.is_set():
                self._done(done)

    def _give_back(self) -> None:
        """Give back its place among the turns that run at once."""
        with self._lock:
            if self._placed.is_set():
                self._placed.clear()
                self._turns.places.release()

    def _ended(self) -> TurnDone:
        if self._revoked.is_set():
            return TurnDone(0.0, cause=Cause.CANCELLED)
        session = self._turns.session
        try:
            spark = session.get()
        except Exception as error:  # noqa: BLE001 (whatever keeps it from starting)
            return TurnDone(0.0, cause=Cause.SPARK_LOST, detail=f"it does not start: {error}")
        lost = session.lost_executors()
        self.began = self.heard = began = time.monotonic()
        try:
            with self._tagged(spark):
                outcome = self._turn.run(spark, self._answerer.confirms, self._answerer.question)
            return TurnDone(time.monotonic() - began, outcome)
        except BaseException as error:  # noqa: BLE001 (Spark, and connectors, raise anything)
            seconds = time.monotonic() - began
            if self._revoked.is_set():
                return TurnDone(seconds, cause=Cause.CANCELLED)
            verdict = judged(_ordinary(error), session, spark, lost)
            return TurnDone(seconds, None, verdict.error, verdict.cause, verdict.detail)

    @contextlib.contextmanager
    def _tagged(self, spark: SparkSession) -> Iterator[None]:
        context = spark.sparkContext
        context.addJobTag(self._tag)
        context.setLocalProperty("spark.scheduler.pool", POOL)
        context.setJobDescription(str(self._turn))
        self._spark = spark
        if self._revoked.is_set():  # in case that came before the tag
            raise RuntimeError("the turn was revoked")
        yield


def _ordinary(raised: BaseException) -> Exception:
    """What would end a thread or a process, such as SystemExit, is the connector's as any other."""
    if isinstance(raised, Exception):
        return raised
    return RuntimeError(f"it raised {type(raised).__name__}: {raised}")
