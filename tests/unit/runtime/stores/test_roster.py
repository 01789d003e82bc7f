"""Who is in the cluster, who leads it, and who runs what."""

from __future__ import annotations

from penstock.kafka.compacted_log import LogRecord
from penstock.kafka.sink_copies import SinkGroup, copy_key, copy_value
from penstock.runtime.stores.roster import (
    Address,
    Record,
    Roster,
    assignment_records,
    leader_record,
    session_key_record,
    worker_record,
)


def tell(roster: Roster, *records: Record) -> None:
    for offset, (key, value) in enumerate(records):
        roster.take(LogRecord(key, value, 0, offset))


def test_what_was_written_is_read() -> None:
    roster = Roster()
    here = Address("http://a:1", "member-1")
    tell(roster, worker_record("a:1", here), leader_record("a:1"))
    tell(roster, *assignment_records([("x", "a:1"), ("y", "b:1"), ("y", None)]))
    assert roster.workers() == {"a:1": here}
    assert roster.leader() == "a:1"
    assert roster.url("a:1") == "http://a:1"
    assert roster.url("b:1") is None
    assert roster.assignments() == {"x": "a:1"}
    assert roster.owner("y") is None
    assert roster.session_key() is None
    tell(roster, session_key_record("digest"))
    assert roster.session_key() == "digest"


def test_listeners_hear_of_workers_and_of_connectors_that_are_given_away() -> None:
    roster = Roster()
    heard: list[str] = []
    roster.listen(on_worker=lambda: heard.append("worker"), on_assignment=heard.append)
    tell(roster, worker_record("a:1", Address("u", "m")), *assignment_records([("x", "a:1")]))
    assert heard == ["worker", "x"]


def test_records_of_other_kinds_are_passed_over() -> None:
    roster = Roster()
    for sink in (SinkGroup("c", "connect-c"), SinkGroup("c", "chosen")):
        tell(roster, (copy_key(sink, "t", 0), copy_value(1, "")))
    tell(roster, (b"nonsense", b"{}"), (b"[]", None))
    assert not roster.workers()
    assert not roster.assignments()
