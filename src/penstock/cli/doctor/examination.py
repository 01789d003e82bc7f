"""All checks at once, each in a thread of its own: none can stop or delay the others."""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module

from penstock.cli.doctor.asked import Asked
from penstock.cli.doctor.findings import Finding, failed, warning

Check = Callable[[], list[Finding]]
LIMIT_SECONDS = 80.0
"""Enough for a Java that is started twice on a busy machine, and then tries to download."""
GROUPS = ("settings", "python", "java", "memory", "folders", "ports", "brokers")
"""Modules of this package, in the order in which problems should be fixed."""


def examine(asked: Asked) -> list[Finding]:
    """What every check finds."""
    with _quiet():
        return run(checks(asked), LIMIT_SECONDS + 2 * asked.timeout)


def checks(asked: Asked) -> list[tuple[str, Check]]:
    """The checks by name."""

    def checking(group: str) -> Check:
        # Loaded inside the check: a package that is missing breaks only the checks that need it.
        return lambda: import_module(f"penstock.cli.doctor.{group}").check(asked)

    return [(group, checking(group)) for group in GROUPS]


def run(named: Sequence[tuple[str, Check]], seconds: float) -> list[Finding]:
    """What the checks find, each or its failure, after at most ``seconds``."""
    deadline = time.monotonic() + seconds
    answers = [(name, _begin(name, check)) for name, check in named]
    return [finding for name, answer in answers for finding in _take(name, answer, deadline)]


def _begin(name: str, check: Check) -> queue.Queue[list[Finding]]:
    answer: queue.Queue[list[Finding]] = queue.Queue()
    # A daemon, so that a check which hangs does not keep the command from ending.
    threading.Thread(target=lambda: answer.put(_safely(name, check)), daemon=True).start()
    return answer


def _safely(name: str, check: Check) -> list[Finding]:
    try:
        return check()
    except ImportError as missing:
        found = f"not looked at: {missing}"
        return [warning(name, found, "Fix the packages first.")]
    except Exception as error:  # noqa: BLE001 (whatever a machine has in store is a finding)
        found = f"could not be looked at: {type(error).__name__}: {error}"
        return [failed(name, found, "Fix what the message names, or report it as a bug.")]


def _take(name: str, answer: queue.Queue[list[Finding]], deadline: float) -> list[Finding]:
    try:
        return answer.get(timeout=max(0.0, deadline - time.monotonic()))
    except queue.Empty:
        advice = "Try again; if it stays, something that this looks at hangs."
        return [failed(name, "no answer in time", advice)]


@contextmanager
def _quiet() -> Iterator[None]:
    """Clients log what the findings say better."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)
