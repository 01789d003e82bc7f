"""``/inserts-stream``: rows as they come, each acknowledged once it is stored."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING, Any

from penstock.rest.access.audit import telling
from penstock.rest.http.limits import MAX_BODY_BYTES
from penstock.rest.sql.api import SqlApi
from penstock.rest.sql.failures import BAD_REQUEST, Failure, failure_of
from penstock.rest.sql.requests import parsed_object
from penstock.sdk.errors import PenstockError

if TYPE_CHECKING:
    from penstock.sql.running.inserting import NewRecord

Json = dict[str, Any]


class Inserts:
    """Rows into one stream or table. Methods block."""

    def __init__(self, api: SqlApi, first_line: bytes) -> None:
        """``first_line`` names the target; Failure if there is none."""
        target = parsed_object(first_line).get("target")
        if not isinstance(target, str):
            raise Failure(BAD_REQUEST, 'The first line must name the "target".')
        try:
            from penstock.sql.avro.columns import AvroWriters
            from penstock.sql.running.inserting import writable

            self._source = writable(api.home, target.strip("`"))
            self._writers = AvroWriters(api.home.registry, self._source)
        except (PenstockError, ModuleNotFoundError) as error:
            raise failure_of(error) from error
        self._home = api.home
        self._next = 0

    def rows(self, lines: Sequence[bytes]) -> list[Json]:
        """Store rows; an acknowledgement or an error of each, in their order."""
        first, self._next = self._next, self._next + len(lines)
        found = [self._record(line) for line in lines]
        good = [each for each in found if not isinstance(each, Failure)]
        with telling("sql", None, insert=self._source.name, rows=len(good)):
            trouble = self._trouble(good)
        return [
            _told(first + number, each if isinstance(each, Failure) else trouble)
            for number, each in enumerate(found)
        ]

    def _record(self, line: bytes) -> NewRecord | Failure:
        from penstock.sql.running.inserting import record_of

        try:
            return record_of(self._writers, parsed_object(line))
        except PenstockError as error:
            return failure_of(error)

    def _trouble(self, records: Sequence[NewRecord]) -> Failure | None:
        from penstock.sql.running.inserting import store

        try:
            store(self._home, self._source.topic, records)
        except PenstockError as error:
            return failure_of(error)
        return None


def _told(number: int, failure: Failure | None) -> Json:
    if failure is None:
        return {"status": "ok", "seq": number}
    told = {"error_code": failure.code, "message": str(failure)}
    return {"status": "error", "seq": number, **told}


async def lines_of(chunks: AsyncIterator[bytes]) -> AsyncIterator[list[bytes]]:
    """The lines of a body as they arrive, several at a time; blank ones are left out."""
    rest = b""
    async for chunk in chunks:
        *whole, rest = (rest + chunk).split(b"\n")
        if len(rest) > MAX_BODY_BYTES:
            raise Failure(BAD_REQUEST, "A line is too long.")
        if found := [line for line in whole if line.strip()]:
            yield found
    if rest.strip():
        yield [rest]


def written(told: Sequence[Json]) -> bytes:
    """Acknowledgements, one per line."""
    return "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in told).encode()
