"""A consumer that does as it is told and then dies by SIGKILL. Prints what it has handled.

Arguments: brokers, topic, name, strategy, then steps: ``take`` (one record), ``commit``, ``flush``.
"""

from __future__ import annotations

import os
import signal
import sys

from penstock.consumers import Consumer


def main(brokers: str, topic: str, name: str, strategy: str, *steps: str) -> None:
    """Play the steps."""
    consumer = Consumer(
        topic, name=name, strategy=strategy, flush=600, bootstrap_servers=brokers
    ).open()
    for step in steps:
        if step == "take":
            sys.stdout.write(f"{next(consumer).text}\n")
            sys.stdout.flush()
        else:
            getattr(consumer, step)()
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main(*sys.argv[1:])
