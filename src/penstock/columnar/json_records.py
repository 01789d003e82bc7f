"""Records of JSON to columns: with an envelope, in runs of equal schemas, and without."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from penstock.columnar.json_envelope import NOT_JSON, EnvelopeReader
from penstock.columnar.json_text import JsonOptions, Misfit
from penstock.columnar.json_values import InexactNumber, filled_column, spread
from penstock.sdk.converters import Decoded
from penstock.sdk.errors import RecordError
from penstock.sdk.schema import SCHEMALESS, Schema, to_field

_Records = list[bytes | None]


def json_column(data: pa.Array) -> pa.Array:
    """Bytes as schemaless JSON, unchanged; JSON's null is null. Raises ``RecordError``."""
    nulls = _json_nulls(data.to_pylist())
    texts = data.cast(pa.string())
    if nulls:
        is_null = pc.is_in(pa.array(range(len(data))), pa.array(nulls))
        texts = pc.if_else(is_null, None, texts)
    return pa.ExtensionArray.from_storage(SCHEMALESS.type, texts)


def _json_nulls(records: _Records) -> list[int]:
    """The rows that say null; everything is parsed on the way, since Arrow does not check JSON."""
    nulls: list[int] = []
    row = 0
    try:
        for row, record in enumerate(records):
            if record is not None and orjson.loads(record) is None:
                nulls.append(row)
    except orjson.JSONDecodeError as error:
        raise RecordError(NOT_JSON.format(error), row=row) from None
    return nulls


@dataclass
class _Run:
    start: int
    schema: Schema | None
    payloads: _Records = field(default_factory=list)


def decode_envelopes(records: _Records, envelopes: EnvelopeReader, name: str) -> list[Decoded]:
    """Records with a schema each, as runs; raises ``RecordError``."""
    runs = _runs([_split(record, row, envelopes) for row, record in enumerate(records)])
    return [_decoded(run, records, envelopes, name) for run in runs]


def _split(
    record: bytes | None, row: int, envelopes: EnvelopeReader
) -> tuple[Schema | None, bytes] | None:
    try:
        return None if record is None else envelopes.split(record)
    except Misfit as misfit:
        raise RecordError(str(misfit), row=row) from None


def _runs(parts: list[tuple[Schema | None, bytes] | None]) -> list[_Run]:
    """Null rows go with the run before them, and at the very start with the first."""
    first = next((part for part in parts if part is not None), (None, b""))
    runs = [_Run(0, first[0])]
    for row, part in enumerate(parts):
        if part is not None and not _same(part[0], runs[-1].schema):
            runs.append(_Run(row, part[0]))
        runs[-1].payloads.append(None if part is None else part[1])
    return runs


def _same(one: Schema | None, other: Schema | None) -> bool:
    return one is other or one == other  # mostly the same object, and that is much faster to see


def _decoded(run: _Run, records: _Records, envelopes: EnvelopeReader, name: str) -> Decoded:
    try:
        array = payload_column(run.schema, run.payloads, envelopes.options)
    except (Misfit, orjson.JSONDecodeError):
        raise _first_error(run, records, envelopes) from None
    schemaless = SCHEMALESS.with_name(name)
    return Decoded(run.start, array, to_field(run.schema, name) if run.schema else schemaless)


def payload_column(schema: Schema | None, payloads: _Records, options: JsonOptions) -> pa.Array:
    """JSON texts as values of ``schema``; raises ``Misfit`` and ``orjson.JSONDecodeError``."""
    there = [payload for payload in payloads if payload is not None]
    if schema is None:
        texts = [None if orjson.loads(p) is None else p.decode() for p in there]
        return spread(pa.array(texts, SCHEMALESS.type), payloads)
    try:
        array = _parsed(schema, there, orjson.loads, options)
    except InexactNumber:
        array = _parsed(schema, there, _exact_loads, options)
    return spread(array, payloads)


def _parsed(
    schema: Schema, payloads: list[bytes], loads: Callable[[bytes], Any], options: JsonOptions
) -> pa.Array:
    return filled_column(schema, [loads(payload) for payload in payloads], options)


def _exact_loads(payload: bytes) -> Any:
    return json.loads(payload, parse_float=Decimal)


def _first_error(run: _Run, records: _Records, envelopes: EnvelopeReader) -> RecordError:
    for row, payload in enumerate(run.payloads, run.start):
        try:
            payload_column(run.schema, [payload], envelopes.options)
        except Misfit as misfit:
            return RecordError(str(misfit), row=row)
        except orjson.JSONDecodeError as error:
            return RecordError(_diagnosis(records[row] or b"", error, envelopes), row=row)
    raise AssertionError("a column fails only where one of its rows does")


def _diagnosis(record: bytes, error: Exception, envelopes: EnvelopeReader) -> str:
    """What follows a known beginning is not a payload: look at the record as a whole to see why."""
    try:
        envelopes.split_slowly(record)
    except Misfit as misfit:
        return str(misfit)
    return NOT_JSON.format(error)
