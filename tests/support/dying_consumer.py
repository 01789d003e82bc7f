"""A consumer that does as it is told and then dies by SIGKILL. Prints what it has handled.

Arguments: brokers, topic, name, its options as JSON, then steps: ``take`` (one record) or a method
of it (``open``, ``commit``, ``flush``, ``close``). ``background`` waits for a flush that nobody has
asked for; after ``kill@group`` and the like it dies where it would do that next.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import Any

from penstock.consumers import Consumer
from penstock.consumers.holding.hold import Hold
from penstock.consumers.holding.keeper import Keeper
from penstock.consumers.registry.registry import Registry
from waiting import eventually

KILL_POINTS: dict[str, tuple[type[Any], str]] = {
    "group": (Hold, "commit"),
    "registry": (Registry, "write"),
    "release": (Keeper, "release"),
}


def dying(
    brokers: str, topic: str, name: str, options: dict[str, Any], *steps: str
) -> subprocess.Popen[str]:
    """Start one, with pipes."""
    return subprocess.Popen(
        [sys.executable, __file__, brokers, topic, name, json.dumps(options), *steps],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )


def die(*_: Any, **__: Any) -> None:
    """Without a chance to do anything more."""
    os.kill(os.getpid(), signal.SIGKILL)


def play(consumer: Consumer, step: str) -> None:
    """Do as one step says."""
    if step == "take":
        sys.stdout.write(f"{next(consumer).text}\n")
        sys.stdout.flush()
    elif step == "background":
        eventually(lambda: _is_stored(consumer), what="a flush in the background")
    elif step.startswith("kill@"):
        setattr(*KILL_POINTS[step.removeprefix("kill@")], die)
    else:
        getattr(consumer, step)()


def _is_stored(consumer: Consumer) -> bool:
    session = consumer._opened()
    return session._keeper._stored == session.progress.committed()


def main(brokers: str, topic: str, name: str, options: str, *steps: str) -> None:
    """Play the steps."""
    chosen = {"flush": 600, **json.loads(options)}
    consumer = Consumer(topic, name=name, bootstrap_servers=brokers, **chosen)
    for step in steps:
        play(consumer, step)
    die()


if __name__ == "__main__":
    main(*sys.argv[1:])
