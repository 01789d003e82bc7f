"""Runs cases: in one JVM by Kafka Connect's own classes, and here by Penstock's."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa

from penstock.columnar.json_converter import JsonConverter
from penstock.columnar.json_text import Misfit
from penstock.embedded import Java
from penstock.engine.pipeline.parts import Part
from penstock.engine.pipeline.predicated import Predicated
from penstock.engine.pipeline.stage_error import StageError
from penstock.runtime.plugins import Plugins
from penstock.sdk.batches import HEADERS, record_batch
from penstock.sdk.errors import ConfigError, RecordError
from transform_differential.cases import Case

PROGRAM = Path(__file__).with_name("Transforms.java")


def theirs(cases: Sequence[Case], java: Java, class_path: str, folder: Path) -> list[Any]:
    """What Kafka Connect's transforms answer, case by case."""
    (folder / "cases.json").write_text(json.dumps([case.to_json() for case in cases]))
    command = [str(java.path), "-Duser.timezone=UTC", "-cp", class_path, str(PROGRAM)]
    files = [folder / "cases.json", folder / "answers.json"]
    done = subprocess.run(
        [*command, *map(str, files)], check=False, capture_output=True, text=True, env=os.environ
    )
    assert done.returncode == 0, done.stderr
    answers: list[Any] = json.loads(files[1].read_text())
    return answers


def ours(case: Case, plugins: Plugins) -> Any:
    """What Penstock answers, in the same form."""
    try:
        step = _step(case, plugins)
    except ConfigError as error:
        return {"refused": str(error)}
    rows: list[Any] = [{"dropped": True}] * len(case.values)
    for part in _applied(step, Part.whole(_batch(case)), rows):
        for place, shown in zip(part.places.tolist(), _shown(part.batch), strict=True):
            rows[place] = shown
    return rows


def _step(case: Case, plugins: Plugins) -> Predicated:
    told = case.to_json()
    plugin = plugins.transform(told["class"])
    assert plugin is not None, case.transform
    transform = plugin.cls()
    transform.configure(case.config)
    if case.predicate is None:
        return Predicated(transform)
    chosen = plugins.predicate(told["predicate"])
    assert chosen is not None, case.predicate
    predicate = chosen.cls()
    predicate.configure(case.predicate_config)
    return Predicated(transform, predicate, case.negate)


def _applied(step: Predicated, part: Part, rows: list[Any]) -> list[Part]:
    while True:
        try:
            return step.apply(part)
        except StageError as error:
            rows[int(part.places[error.row])] = {"error": str(error)}
            part = part.without(error.row)
            if not part.batch.num_rows:
                return []


def _converter(is_key: bool) -> JsonConverter:
    made = JsonConverter()
    made.configure({"replace.null.with.default": "false"}, is_key=is_key)
    return made


def _batch(case: Case) -> pa.RecordBatch:
    rows = [case.row(n) for n in range(len(case.values))]
    key, key_field = _side(case.key_schema, [row["key"] for row in rows], is_key=True)
    value, value_field = _side(case.value_schema, [row["value"] for row in rows], is_key=False)
    headers = [[{"key": k, "value": v and v.encode()} for k, v in r["headers"]] for r in rows]
    return record_batch(
        pa.array([row["topic"] for row in rows]).dictionary_encode(),
        value,
        key=key,
        key_field=key_field,
        value_field=value_field,
        partition=pa.array([row["partition"] for row in rows], pa.int32()),
        timestamp=pa.array([row["timestamp"] for row in rows], pa.int64()),
        headers=pa.array([each or None for each in headers], HEADERS),
        offset=pa.array([row["offset"] for row in rows], pa.int64()) if case.sink else None,
    )


def _side(schema: Any, payloads: list[Any], *, is_key: bool) -> tuple[pa.Array, pa.Field]:
    texts = [
        None if p is None else orjson.dumps({"schema": schema, "payload": p}) for p in payloads
    ]
    if all(text is None for text in texts) and schema is not None:
        # A column of nothing but null still has its schema: read it beside another row.
        sample = orjson.dumps({"schema": {**schema, "optional": True}, "payload": None})
        [run] = _converter(is_key).decode(pa.array([sample, *texts], pa.binary()))
        return run.array.slice(1), run.field
    [run] = _converter(is_key).decode(pa.array(texts, pa.binary()))
    return run.array, run.field


def _shown(batch: pa.RecordBatch) -> list[dict[str, Any]]:
    key, value = (_texts(batch, side) for side in ("key", "value"))
    return [
        {
            "topic": batch.column("topic")[row].as_py(),
            "partition": batch.column("partition")[row].as_py(),
            "timestamp": batch.column("timestamp")[row].as_py(),
            "key": key[row],
            "value": value[row],
            "headers": [
                [h["key"], None if h["value"] is None else h["value"].decode()]
                for h in batch.column("headers")[row].as_py() or ()
            ],
        }
        for row in range(batch.num_rows)
    ]


def _texts(batch: pa.RecordBatch, side: str) -> list[Any]:
    column, field = batch.column(side), batch.schema.field(side)
    converter = _converter(side == "key")
    return [_one(converter, column.slice(row, 1), field) for row in range(len(column))]


def _one(converter: JsonConverter, row: pa.Array, field: pa.Field) -> Any:
    try:
        text = converter.encode(row, field)[0].as_py()
    except (Misfit, RecordError, pa.ArrowException) as error:
        return {"unconvertible": str(error)}
    return None if text is None else json.loads(text)


def differing(case: Case, their: Any, our: Any) -> str | None:
    """What differs in the answers to a case, in a line; None if nothing does."""
    if isinstance(their, dict) or isinstance(our, dict):
        both = isinstance(their, dict) and isinstance(our, dict)
        return None if both else f"configuration: theirs {their}, ours {our}"
    for row, (one, other) in enumerate(zip(their, our, strict=True)):
        if (found := _first(_told(one), _told(other))) is not None:
            return f"row {row} {found}"
    return None


def _first(their: Any, our: Any, place: str = "") -> str | None:
    """Where two answers differ first, and how."""
    if isinstance(their, dict) and isinstance(our, dict) and their.keys() == our.keys():
        pairs = [(f"{place}.{key}", their[key], our[key]) for key in their]
    elif isinstance(their, list) and isinstance(our, list) and len(their) == len(our):
        pairs = [(f"{place}[{n}]", one, our[n]) for n, one in enumerate(their)]
    else:
        same = their == our and type(their) is type(our)
        return None if same else f"at {place}: theirs {their!r}, ours {our!r}"
    return next((found for p in pairs if (found := _first(p[1], p[2], p[0])) is not None), None)


def _told(answer: dict[str, Any]) -> Any:
    """The answer without the words of its errors."""
    if "error" in answer:
        return "error"
    return {k: _plain(v) for k, v in answer.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return (
            "unconvertible"
            if "unconvertible" in value
            else {k: _plain(v) for k, v in value.items()}
        )
    return [_plain(item) for item in value] if isinstance(value, list) else value
