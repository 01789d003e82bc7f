"""The operator with real Kafka Connect: the newest, and those too old for some of its endpoints."""

from collections.abc import Callable
from pathlib import Path

import pytest

from kube_api import KubeServer
from kube_resources import Resources, apply_cluster, condition, message
from old_connect import old_connect
from operator_process import OperatorProcess
from penstock.client import ConnectClient
from penstock.embedded import EmbeddedBroker, Java

Start = Callable[..., OperatorProcess]
RESET = "strimzi.io/offsets-reset"
FILE_SOURCE = "org.apache.kafka.connect.file.FileStreamSourceConnector"
FILE_SINK = "org.apache.kafka.connect.file.FileStreamSinkConnector"
CONVERTERS = ("key.converter", "value.converter")
STRINGS = "org.apache.kafka.connect.storage.StringConverter"


def spec_of(tmp_path: Path, topic: str, **more: object) -> dict:
    (tmp_path / "in.txt").write_text("one\ntwo\n")
    config = {"file": str(tmp_path / "in.txt"), "topic": topic}
    return {"class": FILE_SOURCE, "tasksMax": 1, "config": config, **more}


def test_real_kafka_connect_is_served_as_well(
    kube: KubeServer,
    namespace: str,
    start_operator: Start,
    connect: ConnectClient,
    tmp_path: Path,
    name: str,
) -> None:
    apply_cluster(kube, namespace, connect.url, "real")
    resources = Resources(kube, namespace, "real")
    start_operator()
    spec = spec_of(tmp_path, name, showOffsets=True)
    resources.apply(resources.connector(name, spec))
    found = resources.until(
        "kctr", name, lambda r: (r.get("status") or {}).get("connectorOffsets", {}).get("source")
    )
    shown = found["status"]["connectorOffsets"]["source"]
    sent = connect.offsets_text(name)
    assert shown[0]["partition"] in sent
    assert shown[0]["offset"] in sent

    stopped = resources.connector(name, {**spec, "state": "stopped"})
    back = {"partition": shown[0]["partition"], "offset": '{"position":4}'}
    resources.apply(
        stopped, resources.offsets("back", {"connectorName": name, "sourceOffsets": [back]})
    )
    resources.until_ready("kctro", "back")
    assert connect.offsets(name)[0]["offset"] == {"position": 4}
    resources.annotate("kctr", name, f"{RESET}=true")
    resources.until_dropped("kctr", name, RESET)
    assert connect.offsets(name) == []
    resources.delete("kctr", name)
    assert name not in connect.connectors()


def test_a_sink_of_real_kafka_connect_is_refused_altered_restarted_and_reset(
    kube: KubeServer,
    namespace: str,
    start_operator: Start,
    connect: ConnectClient,
    sink: dict,
    tmp_path: Path,
    name: str,
) -> None:
    apply_cluster(kube, namespace, connect.url, "real")
    resources = Resources(kube, namespace, "real")
    start_operator()
    config = {**sink["config"], **dict.fromkeys(CONVERTERS, STRINGS)}
    running = {**sink, "class": FILE_SINK, "config": config, "state": "running"}
    resources.apply(resources.connector(name, {**running, "showOffsets": True}))
    place = {"kafkaTopic": name, "kafkaPartition": 0}
    at = [{"partition": place, "offset": {"kafkaOffset": 3}}]
    resources.until("kctr", name, lambda r: offsets_of(r).get("sink") == at)

    back = [{"partition": place, "offset": {"kafkaOffset": 1}}]
    resources.apply(resources.offsets("back", {"connectorName": name, "sinkOffsets": back}))
    told = resources.until_not_ready("kctro", "back")
    assert "must be in the STOPPED state before their offsets can be modified" in told
    resources.patch("kctr", name, state="stopped")
    resources.until_ready("kctro", "back")
    assert connect.offsets(name)[0]["offset"] == {"kafka_offset": 1}

    resources.patch("kctr", name, state="running")
    resources.until("kctr", name, lambda r: offsets_of(r).get("sink") == at)
    assert (tmp_path / "out.txt").read_text().split() == ["a", "b", "c", "b", "c"]
    resources.annotate("kctr", name, "strimzi.io/restart=includeTasks")
    resources.until_dropped("kctr", name, "strimzi.io/restart")
    resources.apply(resources.connector(name, {**running, "state": "stopped"}, **{RESET: "true"}))
    found = resources.until_dropped("kctr", name, RESET)
    assert not condition(found, RESET), message(found, RESET)
    assert connect.offsets(name) == []
    resources.delete("kctr", name)


def offsets_of(resource: dict) -> dict:
    return dict((resource.get("status") or {}).get("connectorOffsets", {}))


@pytest.mark.parametrize(
    ("version", "shows"), [pytest.param("3.4.1", False), pytest.param("3.5.2", True)]
)
def test_a_connect_that_is_too_old_is_told_for_altering_showing_and_resetting(
    kube: KubeServer,
    namespace: str,
    start_operator: Start,
    broker: EmbeddedBroker,
    java: Java,
    tmp_path: Path,
    name: str,
    version: str,
    shows: bool,
) -> None:
    group = f"old-{version}"
    with old_connect(tmp_path / "old", group, version, broker.bootstrap_servers, java) as client:
        apply_cluster(kube, namespace, client.url, "old")
        resources = Resources(kube, namespace, "old")
        start_operator()
        spec = spec_of(tmp_path, name, showOffsets=True)
        resources.apply(resources.connector(name, spec))
        resources.until_ready("kctr", name)
        if not shows:
            told = resources.until("kctr", name, lambda r: condition(r, "Warning"))
            assert f"(version {version}) is too old to show offsets" in message(told, "Warning")

        entry = {"partition": "{}", "offset": "{}"}
        spec_o = {"connectorName": name, "sourceOffsets": [entry]}
        resources.apply(resources.offsets("o", spec_o))
        told_o = resources.until_not_ready("kctro", "o")
        assert f"(version {version}) is too old to alter offsets" in told_o
        assert "3.6 or newer" in told_o

        both = resources.connector(name, {**spec, "state": "stopped"}, **{RESET: "true"})
        resources.apply(both)
        told = resources.until("kctr", name, lambda r: condition(r, RESET))
        if shows:
            assert "too old to reset offsets" in message(told, RESET)
        else:
            assert "too old to stop" in message(told, RESET)
        resources.delete("kctr", name)
