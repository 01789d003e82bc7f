"""The process in which a connector checks a configuration, and which is killed if it hangs.

    python -m penstock.runtime.validation.check_process <descriptor of a connection>

Takes (module, class, config) after (module, class, config), and answers each with the errors that
the connector's ``validate`` finds, or with the exception it raised.
"""

from __future__ import annotations

import importlib
import os
import sys
import threading
import time
from collections.abc import Mapping
from multiprocessing.connection import Connection
from typing import Any

from penstock.runtime.callbacks import contained

Question = tuple[str, str, Mapping[str, str]]
Answer = tuple[list[tuple[str, str]], Exception | None]


def main(descriptor: str) -> None:
    """Answer until the connection is closed."""
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    worker: Connection[Answer, Question] = Connection(int(descriptor))
    while True:
        try:
            question = worker.recv()
        except EOFError:
            return
        _send(worker, _answer(*question))


def _end_with(parent: int) -> None:
    """End with the worker: a check that hangs would not notice that it is gone."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


def _answer(module: str, name: str, config: Mapping[str, str]) -> Answer:
    try:
        found: Any = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
        return [(str(key), str(text)) for key, text in contained(found().validate, config)], None
    except Exception as error:  # noqa: BLE001 (raised in the waiting caller)
        return [], error


def _send(worker: Connection[Answer, Question], answer: Answer) -> None:
    try:
        worker.send(answer)
    except Exception:  # noqa: BLE001 (an exception may hold what cannot be sent)
        worker.send(([], RuntimeError(f"{type(answer[1]).__name__}: {answer[1]}")))


if __name__ == "__main__":
    main(sys.argv[1])
