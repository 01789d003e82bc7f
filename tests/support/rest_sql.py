"""Statements over the REST API of a worker in a process of its own."""

from __future__ import annotations

import httpx

from worker_process import WorkerProcess


class RestSql:
    """Runs a statement each time it is called; AssertionError if it is refused."""

    def __init__(self, worker: WorkerProcess) -> None:
        self._worker = worker

    def __call__(self, statement: str, properties: dict[str, str] | None = None) -> None:
        answer = httpx.post(
            f"{self._worker.url}/ksql",
            json={"ksql": statement, "streamsProperties": properties or {}},
            timeout=180,
        )
        assert answer.is_success, answer.text
