"""What is decided from spec, status and answers alone."""

import json
from datetime import UTC, datetime, timedelta
from unittest.mock import create_autospec

import pytest

from penstock.client import RawOffset
from penstock.deploy.render import render
from penstock.kube import KubeApi, KubeError
from penstock.operator.auto_restart import interval, is_due, is_exhausted, is_forgotten
from penstock.operator.conditions import not_ready, ready, stamp, timed
from penstock.operator.connect import deploy_options
from penstock.operator.crds import crds
from penstock.operator.desired import desired_config, digest, same_config, unusable_keys
from penstock.operator.errors import InvalidResource
from penstock.operator.manifests import beside_strimzi_rules
from penstock.operator.restarts import flags
from penstock.operator.shown_offsets import (
    already_there,
    as_sink,
    as_source,
    status_section,
    wanted_offsets,
)
from penstock.operator.states import move, wanted_state
from penstock.operator.status_patch import merge_patch
from penstock.operator.strimzi import drops_offsets

NOW = datetime(2026, 5, 21, 9, 8, 58, 467_000, tzinfo=UTC)


def test_the_config_is_the_map_with_what_the_spec_has_fields_for() -> None:
    spec = {
        "class": "File",
        "tasksMax": 2,
        "config": {"file": "/f", "batch.size": 5, "flag": True, "name": "x", "tasks.max": 9},
    }
    assert desired_config("n", spec) == {
        "name": "n",
        "connector.class": "File",
        "tasks.max": "2",
        "file": "/f",
        "batch.size": "5",
        "flag": "true",
    }


def test_values_that_no_worker_takes_are_named() -> None:
    assert unusable_keys({"config": {"b": [1], "a": {"x": 1}, "c": 1}}) == ["a", "b"]


def test_configs_are_compared_strictly() -> None:
    desired = {"a": "1", "b": "2"}
    assert same_config(desired, {"a": "1", "b": "2"}, "")
    assert not same_config(desired, {"a": "1"}, "")
    assert not same_config(desired, {"a": "1", "b": "2", "c": "default"}, "")
    assert not same_config(desired, {"a": "1", "b": "3"}, "")


def test_a_hidden_password_counts_as_unchanged_only_if_it_is_what_was_sent() -> None:
    desired = {"a": "1", "password": "secret"}
    found = {"a": "1", "password": "[hidden]"}
    assert same_config(desired, found, digest(desired))
    assert not same_config(desired, found, digest({**desired, "password": "other"}))
    assert not same_config(desired, {**found, "a": "2"}, digest(desired))


@pytest.mark.parametrize(
    ("state", "wanted", "step"),
    [
        ("RUNNING", "PAUSED", "pause"),
        ("RUNNING", "STOPPED", "stop"),
        ("PAUSED", "RUNNING", "resume"),
        ("STOPPED", "PAUSED", "pause"),
        ("FAILED", "STOPPED", "stop"),
        ("FAILED", "PAUSED", None),
        ("FAILED", "RUNNING", None),
        ("UNASSIGNED", "STOPPED", None),
        ("RUNNING", "RUNNING", None),
    ],
)
def test_moves_between_states(state: str, wanted: str, step: str | None) -> None:
    assert move(state, wanted) == step


def test_the_wanted_state() -> None:
    assert wanted_state({}) == "RUNNING"
    assert wanted_state({"pause": True}) == "PAUSED"
    assert wanted_state({"state": "stopped", "pause": True}) == "STOPPED"


def test_restarts_come_less_and_less_often() -> None:
    minutes = [interval(count).total_seconds() / 60 for count in range(10)]
    assert minutes == [0, 2, 6, 12, 20, 30, 42, 56, 60, 60]


def test_a_restart_is_due_after_its_interval_and_not_beyond_the_most() -> None:
    spec = {"autoRestart": {"enabled": True, "maxRestarts": 3}}
    record = {"count": 2, "lastRestartTimestamp": stamp(NOW)}
    assert is_due(spec, {}, NOW)
    assert not is_due({}, {}, NOW)
    assert not is_due(spec, record, NOW + timedelta(minutes=5))
    assert is_due(spec, record, NOW + timedelta(minutes=6))
    assert not is_due(spec, {**record, "count": 3}, NOW + timedelta(hours=2))
    assert is_exhausted(spec, {**record, "count": 3})


def test_restarts_are_forgotten_once_it_has_worked_for_as_long() -> None:
    record = {"count": 1, "lastRestartTimestamp": stamp(NOW)}
    assert not is_forgotten(record, NOW + timedelta(minutes=1))
    assert is_forgotten(record, NOW + timedelta(minutes=2))
    assert not is_forgotten({}, NOW)


def test_restart_annotations() -> None:
    assert flags("true") == (False, False)
    assert flags("includeTasks") == (True, False)
    assert flags("onlyFailed, includeTasks") == (True, True)
    for wrong in ("true,includeTasks", "yes", ""):
        with pytest.raises(ValueError, match="Invalid annotation format"):
            flags(wrong)


def test_a_condition_keeps_its_time_while_it_holds() -> None:
    first = timed(not_ready("A", "one"), (), NOW)
    later = NOW + timedelta(minutes=1)
    assert [c["lastTransitionTime"] for c in timed(not_ready("B", "two"), first, later)] == [
        stamp(NOW),
        stamp(NOW),
    ]
    assert timed(ready(), first, later)[0]["lastTransitionTime"] == stamp(later)


def test_the_smallest_patch() -> None:
    old = {"a": 1, "b": {"x": 1, "y": 2}, "c": [1]}
    assert merge_patch(old, old) == {}
    assert merge_patch(old, {"a": 1, "b": {"x": 2}, "c": [1, 2]}) == {
        "b": {"x": 2, "y": None},
        "c": [1, 2],
    }


def test_source_offsets_are_shown_as_the_text_that_was_sent() -> None:
    raw = [RawOffset('{"f" :  "a" }', '{"p":1.0}'), RawOffset("{}", None)]
    shown = status_section(raw, "source", NOW)
    assert shown == {
        "lastUpdateTime": "2026-05-21T09:08:58.467Z",
        "source": [{"partition": '{"f" :  "a" }', "offset": '{"p":1.0}'}, {"partition": "{}"}],
    }


def test_no_offsets_show_as_an_empty_list_of_the_connectors_kind() -> None:
    assert status_section([], "source", NOW)["source"] == []
    assert status_section([], "sink", NOW)["sink"] == []
    assert "source" not in status_section([], "sink", NOW)


def test_a_kind_that_the_worker_does_not_know_is_seen_by_its_offsets() -> None:
    sink = [RawOffset('{"kafka_topic":"t","kafka_partition":1}', '{"kafka_offset":7}')]
    assert "sink" in status_section(sink, "unknown", NOW)
    assert "source" in status_section([RawOffset('{"f":"a"}', "{}")], "unknown", NOW)


def test_more_than_a_status_holds_is_cut() -> None:
    many = [RawOffset(json.dumps({"n": n}), json.dumps({"p": "x" * 1000})) for n in range(1000)]
    assert 200 < len(status_section(many, "source", NOW)["source"]) < 300


def test_what_a_status_shows_can_be_given_to_a_spec() -> None:
    source = [RawOffset('{"f":"a"}', '{"p":1.0}'), RawOffset('{"f":"b"}', None)]
    assert wanted_offsets({"sourceOffsets": as_source(source)}) == source
    sink = [RawOffset('{"kafka_topic": "t", "kafka_partition": 1}', '{"kafka_offset": 7}')]
    assert wanted_offsets({"sinkOffsets": as_sink(sink)}) == sink


def test_an_offset_that_is_null_or_left_out_resets() -> None:
    spec = {"sourceOffsets": [{"partition": "{}"}, {"partition": "{}", "offset": None}]}
    assert wanted_offsets(spec) == [RawOffset("{}", None)] * 2
    partition = {"kafkaTopic": "t", "kafkaPartition": 0}
    spec = {"sinkOffsets": [{"partition": partition}, {"partition": partition, "offset": None}]}
    assert [o.offset for o in wanted_offsets(spec)] == [None, None]


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({}, "exactly one"),
        ({"sourceOffsets": [], "sinkOffsets": []}, "exactly one"),
        ({"sourceOffsets": [{"partition": "{"}]}, r"sourceOffsets\[0\].partition is not JSON"),
        (
            {"sourceOffsets": [{"partition": "{}", "offset": "[1]"}]},
            "offset is JSON, but not an object",
        ),
    ],
)
def test_specs_that_cannot_be_applied_say_why(spec: dict, words: str) -> None:
    with pytest.raises(InvalidResource, match=words):
        wanted_offsets(spec)


def test_offsets_are_there_whatever_the_order_of_their_keys() -> None:
    found = [RawOffset('{"a":1,"b":2}', '{"p":5}'), RawOffset('{"a":3}', '{"p":6}')]
    assert already_there([RawOffset('{"b":2,"a":1}', '{"p": 5}')], found)
    assert not already_there([RawOffset('{"b":2,"a":1}', '{"p": 4}')], found)
    assert not already_there([RawOffset('{"a":3}', None)], found)
    assert already_there([RawOffset('{"a":9}', None)], found)


@pytest.mark.parametrize(
    ("fields", "drops"), [({"class": {}, "showOffsets": {}}, False), ({"class": {}}, True)]
)
def test_strimzis_own_definition_is_recognised_by_its_published_schema(
    fields: dict, drops: bool
) -> None:
    kind = [{"group": "kafka.strimzi.io", "kind": "KafkaConnector", "version": "v1beta2"}]
    schema = {
        "x-kubernetes-group-version-kind": kind,
        "properties": {"spec": {"properties": fields}},
    }
    api = create_autospec(KubeApi, instance=True)
    api.request.return_value = {"components": {"schemas": {"x": schema, "other": {}}}}
    assert drops_offsets(api) is drops
    api.request.side_effect = KubeError(404, "NotFound", "not published yet")
    assert not drops_offsets(api)


def test_an_operator_beside_strimzi_may_change_nothing_that_is_strimzis() -> None:
    for rule in beside_strimzi_rules():
        strimzis = {"kafkaconnects", "kafkaconnectors"} & set(rule["resources"])
        assert not strimzis or rule["verbs"] == ["get"]
    kinds = [crd["spec"]["names"]["kind"] for crd in crds(beside_strimzi=True)]
    assert kinds == ["KafkaConnectorOffsets"]


def test_the_resources_of_a_cluster_reach_its_pods_whole() -> None:
    wanted = {"requests": {"cpu": 2}, "limits": {"cpu": "4", "memory": "3Gi"}}
    spec = {"bootstrapServers": "k:1", "insecure": True, "resources": wanted}
    meta = {"name": "app", "namespace": "ns", "uid": "u"}
    cluster = {"apiVersion": "kafka.strimzi.io/v1", "kind": "KafkaConnect", "metadata": meta}
    pod = render(deploy_options({**cluster, "spec": spec}))[-1]["spec"]["template"]["spec"]
    assert pod["containers"][0]["resources"] == wanted
