"""Leases and reports over a carrier's connection: no pickle, and classes by entry point."""

from __future__ import annotations

import json
import socket
from dataclasses import MISSING, Field, fields, replace
from typing import Any

import pytest

import penstock
from penstock.columnar.json_converter import JsonConverter
from penstock.columnar.plain_converters import StringConverter
from penstock.columnar.predicates import TopicNameMatches
from penstock.columnar.regex_router import RegexRouter
from penstock.config.providers import AllowedPaths, EnvVarProvider, FileProvider
from penstock.config.references import Providers
from penstock.engine.carriers import classes
from penstock.engine.carriers.codec import CodecError
from penstock.engine.carriers.frames import receive, send
from penstock.engine.carriers.orders import (
    decode_lease,
    decode_report,
    encode_lease,
    encode_report,
)
from penstock.engine.lease.lease import (
    End,
    Lease,
    Limits,
    Membership,
    Report,
    SinkLease,
    SourceLease,
    Tolerance,
)
from penstock.engine.lease.new_topics import TopicGroup
from penstock.engine.lease.pace import Pace
from penstock.engine.lease.tally import Tally
from penstock.engine.pipeline.recipe import Condition, Recipe
from penstock.kafka.clients import Connection
from penstock.plugins.files.file_sink_task import FileStreamSinkTask
from penstock.plugins.files.file_source_task import FileStreamSourceTask
from penstock.sdk.tasks import Assignment, CommittedOffset

CONDITION = Condition(TopicNameMatches, {"pattern": "a"}, negate=True)
SHARED = {
    "lease_id": "lease",
    "previous": None,
    "connector": "orders",
    "task": 3,
    "config": {"file": "ä.txt"},
    "pipeline": Recipe(
        (StringConverter, {}),
        (JsonConverter, {"schemas.enable": "false"}),
        ((RegexRouter, {"regex": ".*", "replacement": "x"}, CONDITION), (RegexRouter, {}, None)),
    ),
    "connection": Connection("nowhere:1", {"sasl.username": "me"}, few_brokers=True),
    "transactional_id": "cluster-orders-3",
    "membership": Membership(b"\x00\xff", "workers"),
    "limits": Limits(lease_seconds=1),
    "secrets": ("written",),
    "producer_settings": {"client.id": "me", "linger.ms": 1},
    "tolerance": Tolerance(all_errors=True),
    "consumer_settings": {"max.poll.records": "7"},
    "admin_settings": {"retries": 1},
    "overrides": {"producer.override.linger.ms": "${env:X}"},
    "providers": Providers(
        {"file": FileProvider(AllowedPaths(("/etc",))), "env": EnvVarProvider("P_.*")}
    ),
}
SOURCE = SourceLease(
    **SHARED,  # type: ignore[arg-type]  # of many types
    task_class=FileStreamSourceTask,
    offsets_topic="offsets",
    positions=((b'["orders",{"filename":"a"}]', {"filename": "a"}, {"position": 2**53 + 1}),),
    partition_keys=("filename",),
    topic_groups=(TopicGroup("default", 3, -1, (".*",), (), {"retention.ms": "1"}),),
)
SINK = SinkLease(
    **SHARED,  # type: ignore[arg-type]  # of many types
    task_class=FileStreamSinkTask,
    group="connect-orders",
    group_metadata=b"\x01",
    assignments=(Assignment("t", 0, 5, "7"), Assignment("t", 1, 0, "")),
    copy_topic="copies",
    copy_partition=2,
    topic_ids={"t": "id"},
    uncommitted_starts=frozenset({("t", 0)}),
    committed=(CommittedOffset("t", 0, 5, "7"), CommittedOffset("gone", 1, 2**40, "ä" * 100)),
    epoch=((2**31 - 1) << 32) + 7,
    pace=Pace(1_000, 0.25, 3.0),
)
REPORT = Report(
    3,
    "lease",
    End.DONE,
    positions=(
        (b"k", {"filename": "a"}, {"position": 1}),
        (b"forgotten", {"filename": None}, None),
        (b"nested", {"at": {"file": ["a", 1]}}, {"none": None, "deep": [{"x": 0.5}], "is": True}),
    ),
    sink_positions={("t", 0): (5, "m"), ("t", 1): (6, "")},
    topics=frozenset({"t"}),
    tally=Tally(records=7, batch_seconds=0.5),
    uncommitted=(("t", 0, 5, 9),),
    pace=Pace(most_bytes=70_000),
)


ORDINARY = {
    *(f"{kind}Lease.{name}" for kind in ("Sink", "Source") for name in ("log_levels",)),
    "SourceLease.pace",
    "Report.records",
    "Report.payload_bytes",
    "Report.dead_letters",
    "Report.trace",
}
"""Fields that are plain, or of which the other sample tells."""


@pytest.mark.parametrize("lease", [SOURCE, SINK])
def test_a_lease_comes_as_it_was_sent(lease: Lease) -> None:
    assert decode_lease(json.loads(json.dumps(encode_lease(lease)))) == lease


def test_a_report_comes_as_it_was_sent() -> None:
    assert decode_report(json.loads(json.dumps(encode_report(REPORT)))) == REPORT


def test_every_field_of_leases_and_reports_is_sent_in_a_value_of_its_own() -> None:
    """A field that is added later is seen here, and added to the samples above."""
    sampled = {SinkLease: SINK, SourceLease: SOURCE, Report: REPORT}
    untold = {
        f"{cls.__name__}.{each.name}"
        for cls, sample in sampled.items()
        for each in fields(cls)
        if getattr(sample, each.name) == _default(each)
    }
    assert untold <= ORDINARY


def _default(each: Field[Any]) -> object:
    made = each.default_factory
    return each.default if made is MISSING else made()


def test_a_text_with_a_lone_surrogate_does_not_break_the_connection() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        sent = encode_report(replace(REPORT, trace="no file \udcff"))
        send(ours, {"report": sent})
        assert receive(theirs) == {"report": json.loads(json.dumps(sent))}


def test_a_class_that_is_no_plugin_is_neither_sent_nor_loaded() -> None:
    with pytest.raises(CodecError, match="belongs to no entry point"):
        encode_lease(replace(SOURCE, task_class=dict))  # type: ignore[arg-type]  # on purpose
    with pytest.raises(CodecError, match="not a group of plugins"):
        classes.load("console_scripts/penstock/itself/1")


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("penstock.connectors/Nowhere/task/1.0", "Nowhere is not installed here"),
        ("penstock.connectors/FileStreamSource/task/0.0", "the worker has 0.0. Install the same"),
    ],
)
def test_a_host_without_the_right_plugin_says_what_to_install(name: str, advice: str) -> None:
    with pytest.raises(CodecError, match=advice):
        classes.load(name)


def test_names_are_of_entry_points() -> None:
    named = classes.name_of(FileStreamSourceTask)
    assert named == f"penstock.connectors/FileStreamSource/task/{penstock.__version__}"
    assert classes.load(named) is FileStreamSourceTask
    assert classes.load(classes.name_of(JsonConverter)) is JsonConverter


@pytest.mark.parametrize("order", [None, {}, {"kind": "third", "lease": {}}, {"kind": "sink"}])
def test_what_is_no_order_is_refused(order: object) -> None:
    with pytest.raises(CodecError):
        decode_lease(order)
