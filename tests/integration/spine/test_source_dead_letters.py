"""A source's bad records are in the dead letter topic, in the transaction that passes them."""

from __future__ import annotations

from pathlib import Path

from penstock.columnar.number_converters import IntegerConverter
from penstock.columnar.plain_converters import StringConverter
from penstock.columnar.transforms.cast import CastValue
from penstock.embedded import EmbeddedBroker
from penstock.engine.lease.lease import End, Tolerance
from penstock.engine.pipeline.pipeline import Pipeline
from penstock.kafka.clients import Connection
from source_leases import run_lease
from topics import Topics

CAST = b"org.apache.kafka.connect.transforms.Cast$Value"


def pipeline() -> Pipeline:
    key, value, cast = StringConverter(), IntegerConverter(), CastValue()
    key.configure({}, is_key=True)
    value.configure({}, is_key=False)
    cast.configure({"spec": "int32"})
    return Pipeline(key, value, [cast])


def test_lines_that_are_no_numbers_are_set_aside_with_their_place(
    broker: EmbeddedBroker, topics: Topics, name: str, tmp_path: Path
) -> None:
    file = tmp_path / "in.txt"
    file.write_text("1\ntwo\n3\n")
    for topic in (name, f"{name}-offsets"):
        topics.create(topic)
    tolerance = Tolerance(all_errors=True, dead_letter_topic=f"{name}-dead", context_headers=True)
    connection = Connection(broker.bootstrap_servers)
    report = run_lease(connection, name, file, pipeline=pipeline(), tolerance=tolerance)
    assert report.end is End.DONE, report.trace
    assert [m.value() for m in topics.messages(name)] == [b"\0\0\0\1", b"\0\0\0\3"]
    [letter] = topics.messages(f"{name}-dead")
    headers = dict(letter.headers() or [])
    assert letter.value() == b'"two"'
    assert headers["__connect.errors.stage"] == b"TRANSFORMATION"
    assert headers["__connect.errors.class.name"] == CAST
    assert headers["__connect.errors.source.partition"] == f'{{"filename":"{file}"}}'.encode()
    [(_, _, offset)] = report.positions
    assert offset is not None
    assert offset["position"] == len("1\ntwo\n3\n")
    assert (report.tally.skipped, report.tally.dead_letters) == (1, 1)
