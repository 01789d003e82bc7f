"""A connector's own checks of a configuration, which are third-party code and may hang.

Built-in connectors are checked in this process, others in a separate process, which is kept for
the next check, and killed if it does not answer.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from multiprocessing import Pipe
from multiprocessing.connection import Connection

from penstock.runtime import callbacks
from penstock.runtime.callbacks import CallbackHangs
from penstock.runtime.validation.check_process import Answer, Question
from penstock.sdk.connectors import Connector
from penstock.sdk.errors import FatalError

MOST_AT_ONCE = 4
"""Processes that check configurations at one time; one of them stays for the next check."""
MOST_OF_ONE = 2
"""The most of these for one class: if its checks hang, others have processes left."""
PATIENCE = 0.5
"""The share of a callback's time to wait for a process: after that the caller gets an error."""

Errors = Sequence[tuple[str, str]]


def asked_here(cls: type[Connector], config: Mapping[str, str]) -> Errors:
    """(key, message) pairs, found in this process."""
    return cls().validate(config)


class OwnChecks:
    """Asks connectors in processes that can be killed. Thread-safe."""

    def __init__(self) -> None:
        self._places = _Places()
        self._lock = threading.Lock()
        self._kept: _Checker | None = None

    def __call__(self, cls: type[Connector], config: Mapping[str, str]) -> Errors:
        """(key, message) pairs; CallbackHangs if the connector does not answer."""
        if cls.validate is Connector.validate:
            return ()
        if cls.__module__.startswith("penstock."):
            return asked_here(cls, config)
        return self._ask((cls.__module__, cls.__qualname__, dict(config)))

    def close(self) -> None:
        """End the process that is kept."""
        if (kept := self._take()) is not None:
            kept.kill()

    def _ask(self, question: Question) -> Errors:
        what = f"validating a configuration of {question[1]}"
        with self._places.one(question[:2], what):
            checker = self._take() or _Checker()
            errors, raised = checker.ask(question, what)
            self._keep(checker)
        if raised is not None:
            raise raised
        return errors

    def _take(self) -> _Checker | None:
        with self._lock:
            kept, self._kept = self._kept, None
        return kept if kept is None or kept.alive else None

    def _keep(self, checker: _Checker) -> None:
        with self._lock:
            checker_before, self._kept = self._kept, checker
        if checker_before is not None:
            checker_before.kill()


@dataclass(frozen=True, eq=False)
class _Check:
    """A check in progress."""

    cls: tuple[str, str]
    began: float = field(default_factory=time.monotonic)


class _Places:
    """The checks in progress, oldest first. Thread-safe."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._taken: list[_Check] = []

    @contextlib.contextmanager
    def one(self, cls: tuple[str, str], what: str) -> Iterator[None]:
        """A place for a check of ``cls``; CallbackHangs names the class whose checks block it."""
        with self._changed:
            patience = callbacks.CALLBACK_SECONDS * PATIENCE
            if not self._changed.wait_for(lambda: not self._before(cls), patience):
                first = self._before(cls)[0]
                raise CallbackHangs(
                    f"{what} waits for an earlier check of {first.cls[1]}", first.began
                )
            check = _Check(cls)
            self._taken.append(check)
        try:
            yield
        finally:
            with self._changed:
                self._taken.remove(check)
                self._changed.notify_all()

    def _before(self, cls: tuple[str, str]) -> list[_Check]:
        """The checks of which one has to end first."""
        same = [check for check in self._taken if check.cls == cls]
        if len(same) >= MOST_OF_ONE:
            return same
        return self._taken if len(self._taken) >= MOST_AT_ONCE else []


class _Checker:
    """One process; serves one caller at a time."""

    def __init__(self) -> None:
        ours, theirs = Pipe()
        self._connection: Connection[Question, Answer] = ours
        descriptor = theirs.fileno()
        command = [
            sys.executable,
            "-m",
            "penstock.runtime.validation.check_process",
            str(descriptor),
        ]
        with theirs:
            # A separate session: Ctrl-C goes to the worker, which then closes the connection.
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, pass_fds=[descriptor], start_new_session=True
            )

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def ask(self, question: Question, what: str) -> Answer:
        """The answer; the process is killed if there is none."""
        began = time.monotonic()
        try:
            self._connection.send(question)
            if self._connection.poll(callbacks.CALLBACK_SECONDS):
                return self._connection.recv()
        except (EOFError, OSError):
            self.kill()
            raise FatalError(
                f"{what} ended its process (os._exit, a signal or out of memory)"
            ) from None
        self.kill()
        raise CallbackHangs(what, began)

    def kill(self) -> None:
        """End the process, and wait until it is gone."""
        with contextlib.suppress(OSError):
            self._process.kill()
        self._process.wait()
        self._connection.close()
