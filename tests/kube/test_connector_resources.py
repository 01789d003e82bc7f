"""KafkaConnector resources on a real API server and a real worker, as a user would type it."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from kube_resources import Resources, condition, message
from operator_process import OperatorProcess
from penstock.client import ConnectApiError
from waiting import eventually
from worker_process import WorkerProcess

Start = Callable[..., OperatorProcess]


def test_a_connector_lives_as_its_resource_says(
    resources: Resources, start_operator: Start, worker: WorkerProcess, idle_source: dict, name: str
) -> None:
    operator = start_operator()
    resources.apply(resources.connector(name, {**idle_source, "showOffsets": True}))
    resources.kubectl("wait", f"kctr/{name}", "--for=condition=Ready", "--timeout=60s")
    found = resources.get("kctr", name)
    assert worker.client.config(name)["topic"] == name
    assert found["status"]["connectorStatus"]["connector"]["state"] == "RUNNING"
    assert found["status"]["connectorOffsets"]["source"] == []
    assert "sink" not in found["status"]["connectorOffsets"]
    assert found["status"]["tasksMax"] == 1
    table = resources.kubectl("get", "kctr")
    assert "FileStreamSource" in table
    assert "RUNNING" in table

    changed = {**idle_source["config"], "batch.size": 7}
    resources.apply(resources.connector(name, {**idle_source, "config": changed}))
    eventually(lambda: worker.client.config(name).get("batch.size") == "7")

    for state, shown in (("paused", "PAUSED"), ("stopped", "STOPPED"), ("running", "RUNNING")):
        resources.patch("kctr", name, state=state)
        assert _state(resources.until_ready("kctr", name)) == shown
        assert worker.client.status(name)["connector"]["state"] == shown

    worker.client.put_config(name, {**worker.client.config(name), "batch.size": "9"})
    eventually(lambda: worker.client.config(name)["batch.size"] == "7", what="drift is corrected")
    worker.client.pause(name)
    eventually(lambda: worker.client.status(name)["connector"]["state"] == "RUNNING")
    events = resources.kubectl("get", "events", "-o", "custom-columns=R:.reason")
    assert {"Created", "Updated", "DriftCorrected", "StateChanged", "Ready"} <= set(events.split())

    resources.delete("kctr", name)
    with pytest.raises(ConnectApiError, match="not found"):
        worker.client.info(name)
    assert operator.get("/healthz").status_code == 200
    assert operator.counted("penstock_operator_rounds_total", kind="KafkaConnector") > 5


def _state(resource: dict) -> str:
    return str(resource["status"]["connectorStatus"]["connector"]["state"])


def test_both_versions_are_served(
    resources: Resources, start_operator: Start, worker: WorkerProcess, idle_source: dict, name: str
) -> None:
    start_operator()
    manifest = resources.manifest("KafkaConnector", name, idle_source, version="v1")
    resources.apply(manifest)
    resources.until_ready("kafkaconnectors.v1.kafka.strimzi.io", name)
    resources.until_ready("kafkaconnectors.v1beta2.kafka.strimzi.io", name)
    resources.delete("kctr", name)


def test_what_is_wrong_with_the_cluster_is_told(
    resources: Resources, start_operator: Start, idle_source: dict, name: str
) -> None:
    start_operator()
    lost = resources.connector(name, idle_source)
    del lost["metadata"]["labels"]
    resources.apply(lost)
    assert "lacks label 'strimzi.io/cluster'" in resources.until_not_ready("kctr", name)
    resources.kubectl("label", "kctr", name, "strimzi.io/cluster=nowhere")
    told = resources.until(
        "kctr", name, lambda r: "does not exist in namespace" in message(r, "Ready")
    )
    assert "KafkaConnect resource 'nowhere'" in message(told, "NotReady")
    resources.kubectl(
        "label", "kctr", name, f"strimzi.io/cluster={resources.cluster}", "--overwrite"
    )
    resources.until_ready("kctr", name)
    resources.delete("kctr", name)


def test_a_config_that_the_worker_refuses_is_told_and_fixed_by_an_edit(
    resources: Resources, start_operator: Start, idle_source: dict, name: str
) -> None:
    start_operator()
    wrong = {
        **idle_source,
        "config": {"topic": name, "file": idle_source["config"]["file"], "batch.size": "x"},
    }
    resources.apply(resources.connector(name, wrong))
    assert "batch.size: Not a number" in resources.until_not_ready("kctr", name)
    resources.apply(resources.connector(name, idle_source))
    resources.until_ready("kctr", name)
    resources.delete("kctr", name)


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({}, "spec.class: Required"),
        ({"class": "C", "tasksMax": 0}, "greater than or equal to 1"),
        ({"class": "C", "state": "asleep"}, 'supported values: "running", "paused", "stopped"'),
        ({"class": "C", "showOffsets": "yes"}, "must be of type boolean"),
        ({"class": "C", "shwoOffsets": True}, 'unknown field "spec.shwoOffsets"'),
    ],
)
def test_resources_that_cannot_be_right_are_refused(
    resources: Resources, spec: dict, words: str, name: str
) -> None:
    manifest = json.dumps(resources.connector(name[-20:].strip("-"), spec))
    assert words in resources.refused("apply", "-f", "-", stdin=manifest)


def test_paused_reconciliation_and_restarts(
    resources: Resources, start_operator: Start, worker: WorkerProcess, idle_source: dict, name: str
) -> None:
    start_operator()
    resources.apply(resources.connector(name, idle_source))
    resources.until_ready("kctr", name)
    resources.annotate("kctr", name, "strimzi.io/restart=true")
    resources.until_dropped("kctr", name, "strimzi.io/restart")
    resources.annotate("kctr", name, "strimzi.io/restart-task=99")
    told = resources.until("kctr", name, lambda r: condition(r, "Warning"))
    assert "Unknown task" in message(told, "Warning")
    resources.kubectl("annotate", "kctr", name, "strimzi.io/restart-task-")

    resources.annotate("kctr", name, "strimzi.io/pause-reconciliation=true")
    resources.until("kctr", name, lambda r: condition(r, "ReconciliationPaused"))
    worker.client.pause(name)
    eventually(lambda: worker.client.status(name)["connector"]["state"] == "PAUSED")
    resources.kubectl("annotate", "kctr", name, "strimzi.io/pause-reconciliation-")
    eventually(lambda: worker.client.status(name)["connector"]["state"] == "RUNNING")
    resources.delete("kctr", name)


def test_what_has_failed_is_restarted_by_itself_and_counted(
    resources: Resources, start_operator: Start, worker: WorkerProcess, tmp_path: Path, name: str
) -> None:
    start_operator()
    once = tmp_path / "has-failed"
    config = {"topic": name, "count": 3, "mishap": "raise", "mishap.once": str(once)}
    spec = {"class": "ScriptedSource", "tasksMax": 1, "config": config}
    restarting = {**spec, "autoRestart": {"enabled": True, "maxRestarts": 3}}
    resources.apply(resources.connector(name, restarting))
    found = resources.until(
        "kctr", name, lambda r: once.exists() and (r.get("status") or {}).get("autoRestart"), 120
    )
    assert found["status"]["autoRestart"]["count"] == 1
    eventually(lambda: worker.client.offsets(name), within=60, what="it works after its restart")
    resources.until_ready("kctr", name)
    assert "AutoRestarted" in resources.kubectl("get", "events")
    resources.delete("kctr", name)


def test_resources_are_brought_about_without_kubernetes_by_the_same_code(
    worker: WorkerProcess, source: dict, file: Path, tmp_path: Path, name: str
) -> None:
    meta = {"name": name, "labels": {"strimzi.io/cluster": "any"}}
    connector = {"kind": "KafkaConnector", "metadata": meta, "spec": source}
    entry = {"partition": json.dumps({"filename": str(file)}), "offset": '{"position":4}'}
    offsets = {"connectorName": name, "sourceOffsets": [entry]}
    alteration = {"kind": "KafkaConnectorOffsets", "metadata": {"name": "o"}, "spec": offsets}
    resources = [{"apiVersion": "kafka.strimzi.io/v1", **r} for r in (connector, alteration)]
    (tmp_path / "resources.yaml").write_text(yaml.safe_dump_all(resources))
    command = [sys.executable, "-m", "penstock", "apply", "-f", str(tmp_path / "resources.yaml")]
    environment = {**os.environ, "PENSTOCK_URL": worker.url}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert worker.client.status(name)["connector"]["state"] == "STOPPED"
    assert worker.client.offsets(name)[0]["offset"] == {"position": 4}
    worker.client.delete(name)
