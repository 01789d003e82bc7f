"""Carries out operations with bulk requests."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from penstock.plugins.search.operations import Operation
from penstock.plugins.search.search_client import SearchClient
from penstock.plugins.search.search_errors import BLOCKED, PASSING, shown
from penstock.plugins.search.sink_settings import SinkSettings
from penstock.sdk.errors import PenstockError, RetriableError, UserError

log = logging.getLogger(__name__)

_PATH: Final = "/_bulk?filter_path=errors,items.*.status,items.*.error"
_DOING: Final = "writing documents"
_WRONG, _MISSING, _CONFLICT, _TOO_LARGE = 400, 404, 409, 413
LONGEST_PAUSE: Final = 2.0

Done = tuple[int, bytes]
"""An operation, as it is recognised when it is given again: its record's offset, and its lines."""


@dataclass
class Answers:
    """What the server said to some operations."""

    carried_out: Sequence[Operation] = ()
    """All of a request, as is usual: then nothing has to be said of single ones."""
    settled: dict[Done, str] = field(default_factory=dict)
    """Why each was refused, or "" if it was carried out."""
    older: int = 0
    """How many were not carried out because the document has the same or a newer version."""
    waiting: list[str] = field(default_factory=list)
    """Why each of the others was not carried out for now."""
    error: PenstockError | None = None
    """What ended a request as a whole."""


class BulkWriter:
    """Remembers, until it is to forget, what was carried out of the operations it was given.

    So they can be given again, all or some of them, after an error: nothing is sent twice that
    the server has answered.
    """

    def __init__(self, client: SearchClient, settings: SinkSettings) -> None:
        self._client, self._settings = client, settings
        self._threads = ThreadPoolExecutor(settings.in_flight, thread_name_prefix="bulk")
        self._settled: dict[Done, str] = {}
        self._failures = 0
        self.older = 0
        """How many records were older than their documents, since this was last set to 0."""

    def close(self) -> None:
        """End the threads; requests under way are not waited for."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def write(self, operations: Sequence[Operation]) -> dict[int, str]:
        """Carry out all of them; why the server refused some, by row.

        ``RetriableError``: give the same ones again. ``UserError``: they cannot be carried out.
        """
        answered = list(self._answers(self._left(operations)))
        if sum(len(answers.carried_out) for answers in answered) == len(operations):
            self._failures = 0
            return {}
        errors = []
        for answers in answered:
            self._settled |= {_done(each): "" for each in answers.carried_out} | answers.settled
            self.older += answers.older
            if answers.error is not None:
                errors.append(answers.error)
            elif answers.waiting:
                errors.append(self._waits(answers.waiting, len(operations)))
        if errors:
            raise self._worst(errors)
        self._failures = 0
        found = ((each.row, self._settled[_done(each)]) for each in operations)
        return {row: why for row, why in found if why}

    def _left(self, operations: Sequence[Operation]) -> Sequence[Operation]:
        known = self._settled
        return [each for each in operations if _done(each) not in known] if known else operations

    def forget(self, operations: Sequence[Operation]) -> None:
        """These are not given again; others of those that were given with them may be."""
        for each in operations:
            self._settled.pop(_done(each), None)

    def forget_all(self) -> None:
        """What is given next is new."""
        self._settled.clear()

    def _answers(self, operations: Sequence[Operation]) -> Iterator[Answers]:
        chunks = list(self._chunks(operations))
        if len(chunks) > 1 and self._settings.in_flight > 1:
            yield from self._threads.map(self._send, chunks)
            return
        for chunk in chunks:
            answers = self._send(chunk)
            yield answers
            if self._settings.upsert and (answers.error or answers.waiting):
                return  # later changes to the same document must not come first

    def _chunks(self, operations: Sequence[Operation]) -> Iterator[Sequence[Operation]]:
        """As few as the limits allow, of about the same length: they are sent side by side."""
        requests = -(-len(operations) // self._settings.batch_size) or 1
        most = -(-len(operations) // requests)
        for start in range(0, len(operations), max(1, most)):
            yield from self._small_enough(operations[start : start + most])

    def _small_enough(self, chunk: Sequence[Operation]) -> Iterator[Sequence[Operation]]:
        limit = self._settings.bulk_bytes
        if len(chunk) == 1 or limit < 0 or sum(len(each.lines) for each in chunk) <= limit:
            yield chunk
            return
        middle = len(chunk) // 2
        yield from self._small_enough(chunk[:middle])
        yield from self._small_enough(chunk[middle:])

    def _send(self, chunk: Sequence[Operation]) -> Answers:
        body = b"".join(each.lines for each in chunk)
        try:
            answer = self._client.request(
                *("POST", _PATH, _DOING),
                body=body,
                kind="application/x-ndjson",
                accepted=(200, _WRONG, _TOO_LARGE),
            )
            if answer.status_code != 200:
                return self._halved(chunk, answer.status_code, answer.content)
            told = orjson.loads(answer.content)
            failed, items = told["errors"], told["items"]
            if len(items) != len(chunk):
                return Answers(error=UserError(self._no_answer()))
        except PenstockError as error:
            return Answers(error=error)
        except (ValueError, KeyError, TypeError):
            return Answers(error=UserError(self._no_answer()))
        if failed:
            return self._sorted(chunk, items)
        return Answers(carried_out=chunk)

    def _halved(self, chunk: Sequence[Operation], status: int, content: bytes) -> Answers:
        """The server refused a request as a whole: one operation is the cause, or its size is."""
        if len(chunk) == 1:
            return Answers(settled={_done(chunk[0]): f"status {status}: {self._said(content)}"})
        both, middle = Answers(), len(chunk) // 2
        for half in (chunk[:middle], chunk[middle:]):
            answers = self._send(half)
            both.settled |= {_done(each): "" for each in answers.carried_out} | answers.settled
            both.older += answers.older
            both.waiting += answers.waiting
            both.error = both.error or answers.error
            if answers.error or answers.waiting:
                break
        return both

    def _said(self, content: bytes) -> str:
        try:
            return shown(self._client.server, orjson.loads(content)["error"])
        except (ValueError, KeyError, TypeError):
            return "no reason given"

    def _sorted(self, chunk: Sequence[Operation], items: Sequence[Any]) -> Answers:
        answers = Answers()
        for operation, item in zip(chunk, items, strict=True):
            (told,) = item.values()
            self._sort(operation, told["status"], told.get("error"), answers)
            if self._settings.upsert and answers.waiting:
                break  # what comes after it is given again, in order
        return answers

    def _sort(self, operation: Operation, status: int, error: Any, answers: Answers) -> None:
        kind = error.get("type", "") if isinstance(error, dict) else ""
        why = "" if error is None else shown(self._client.server, error)
        if status == _CONFLICT and not self._settings.upsert:
            answers.older += 1
            answers.settled[_done(operation)] = ""
        elif error is None or (status == _MISSING and operation.deletes):
            answers.settled[_done(operation)] = ""
        elif status in PASSING or status == _CONFLICT or kind == BLOCKED:
            answers.waiting.append(f"status {status}: {why}")
        elif status == _WRONG:
            answers.settled[_done(operation)] = why
        else:
            text = f"{self._client.server.urls[0]} answered with status {status} while {_DOING}"
            answers.error = UserError(f"{text}: {why}")

    def _waits(self, reasons: Sequence[str], of: int) -> RetriableError:
        url = self._client.server.urls[0]
        text = f"{url} did not take {len(reasons)} of {of} documents for now: {reasons[0]}"
        return RetriableError(text)

    def _worst(self, errors: Sequence[PenstockError]) -> PenstockError:
        """One that does not pass, if there is any; otherwise one with the next pause."""
        lasting = [error for error in errors if not isinstance(error, RetriableError)]
        if lasting:
            return lasting[0]
        pause = min(LONGEST_PAUSE, self._settings.backoff_seconds * 2**self._failures)
        if not self._failures:
            log.warning("%s. Trying again until it succeeds.", errors[0])
        self._failures = min(self._failures + 1, 16)
        return RetriableError(str(errors[0]), retry_after=pause)

    def _no_answer(self) -> str:
        url = self._client.server.urls[0]
        return f"{url} did not answer as Elasticsearch or OpenSearch does. Check 'connection.url'."


def _done(operation: Operation) -> Done:
    return operation.offset, operation.lines
