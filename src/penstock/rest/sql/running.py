"""Queries that clients listen to: each in a thread of its own, until its client goes away."""

from __future__ import annotations

import logging
import queue
import threading
import uuid
from collections.abc import Iterator, MutableMapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from penstock.rest.access.caller import Caller, Role
from penstock.rest.sql.failures import BAD_STATEMENT, FORBIDDEN, TOO_MANY, Failure, failure_of
from penstock.rest.sql.shapes import Form, wire_type
from penstock.sdk.errors import PenstockError
from penstock.sql.running.results import Printed, Rows

log = logging.getLogger(__name__)

MOST_QUERIES = 32
AHEAD = 1000
"""Rows that wait for a slow client; then the query waits."""
PATIENCE_SECONDS = 0.5


@dataclass
class Listened:
    """A query at work. Its texts are taken with ``take``; ``end`` may come from any thread."""

    answer: Rows | Printed
    form: Form
    owner: Caller
    id: str = field(default_factory=lambda: f"query_{uuid.uuid4().hex}")
    _texts: queue.Queue[str | None] = field(default_factory=lambda: queue.Queue(AHEAD))
    _thread: threading.Thread | None = None
    _over: bool = False

    @property
    def is_print(self) -> bool:
        """Whether it gives lines instead of rows."""
        return isinstance(self.answer, Printed)

    def start(self) -> None:
        """Begin to read rows."""
        self._thread = threading.Thread(target=self._work, name=self.id, daemon=True)
        self._thread.start()

    def take(self) -> str | None:
        """What there is, perhaps nothing after a moment; None once that was all."""
        found = [] if self._over else self._waiting()
        text = "".join(each for each in found if each)
        self._over = self._over or (found[-1] is None if found else self._ended())
        return None if self._over and not text else text

    def _waiting(self) -> list[str | None]:
        found: list[str | None] = []
        with suppress(queue.Empty):
            found.append(self._texts.get(timeout=PATIENCE_SECONDS))
            while found[-1] is not None:
                found.append(self._texts.get_nowait())
        return found

    def _ended(self) -> bool:
        return self._thread is None or not self._thread.is_alive()

    def end(self) -> None:
        """End the query."""
        self.answer.stop.set()

    def _work(self) -> None:
        try:
            for text in self._all():
                if not self._put(text):
                    break
        finally:
            self._put(None)

    def _all(self) -> Iterator[str]:
        answer = self.answer
        if isinstance(answer, Printed):
            yield from (f"{line}\n" for line in answer.lines)
            return
        kinds = [wire_type(kind) for kind in answer.types]
        yield self.form.head(self.id, list(zip(answer.columns, kinds, strict=True)))
        try:
            for row in answer.rows:
                yield self.form.row(row)
        except Exception as error:  # noqa: BLE001 (the status is sent: it can only be told here)
            yield self.form.failed(_told(error))
            return
        yield self.form.end(" ".join([answer.note, *self._warnings(answer)]).strip())

    def _warnings(self, answer: Rows) -> Sequence[str]:
        """In the log as well: not every form has a place for them."""
        found = answer.warnings()
        for text in found:
            log.warning("%s: %s", self.id, text)
        return found

    def _put(self, text: str | None) -> bool:
        """Whether it was put: not if the client has gone."""
        while True:
            try:
                self._texts.put(text, timeout=PATIENCE_SECONDS)
            except queue.Full:
                if self.answer.stop.is_set():
                    return False
            else:
                return True


def _told(error: Exception) -> dict[str, object]:
    if not isinstance(error, PenstockError):
        log.error("a query failed", exc_info=error)
    return failure_of(error).body()


class Listeners:
    """The queries of a worker that clients listen to. ``shown`` is kept for SHOW QUERIES."""

    def __init__(self, shown: MutableMapping[str, str]) -> None:
        self._shown = shown
        self._lock = threading.Lock()
        self._queries: dict[str, Listened] = {}

    def add(self, query: Listened, statement: str) -> None:
        """Begin; Failure if there are too many."""
        with self._lock:
            if len(self._queries) >= MOST_QUERIES:
                raise Failure(
                    TOO_MANY, f"{MOST_QUERIES} queries are running here: close some first."
                )
            self._queries[query.id] = query
            self._shown[query.id] = statement
        query.start()

    def end(self, query: Listened) -> None:
        """End one, if it has not ended."""
        query.end()
        with self._lock:
            self._queries.pop(query.id, None)
            self._shown.pop(query.id, None)

    def close(self, query_id: str, caller: Caller) -> None:
        """End one by its id: who began it may, and operators."""
        query = self._queries.get(query_id)
        if query is None:
            raise Failure(BAD_STATEMENT, f"No query with id {query_id} is running on this worker.")
        if caller.name != query.owner.name and caller.role < Role.OPERATE:
            raise Failure(FORBIDDEN, f"Query {query_id} is not yours: that needs the role operate.")
        self.end(query)

    def end_all(self) -> None:
        """End all."""
        for query in list(self._queries.values()):
            self.end(query)
