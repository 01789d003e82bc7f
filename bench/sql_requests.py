"""Statements of SQL for our worker, over REST."""

from __future__ import annotations

from typing import Any

import httpx

from bench.rest_worker import RestWorker

ANSWER_SECONDS = 120.0


def run_sql(worker: RestWorker, statements: str) -> list[dict[str, Any]]:
    """Run statements, whose queries begin with the first record; the answer of each."""
    answer = httpx.post(
        f"{worker.client.url}/ksql",
        json={"ksql": statements, "streamsProperties": {"auto.offset.reset": "earliest"}},
        timeout=ANSWER_SECONDS,
    )
    if not answer.is_success:
        raise RuntimeError(f"{statements}: {answer.text}")
    found: list[dict[str, Any]] = answer.json()
    return found


def query_id(answers: list[dict[str, Any]]) -> str:
    """The id of the query that the last statement has begun."""
    return str(answers[-1]["commandStatus"]["queryId"])
