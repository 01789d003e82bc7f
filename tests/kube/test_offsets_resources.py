"""Offsets as resources: the seed's stories on a real API server and a real worker."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kube_resources import Resources, condition, message
from operator_process import OperatorProcess
from rest_between import RestBetween
from waiting import eventually
from worker_process import WorkerProcess

Start = Callable[..., OperatorProcess]
RESET = "strimzi.io/offsets-reset"
PAUSE = "strimzi.io/pause-reconciliation"


def shown(resource: dict) -> Any:
    return (resource.get("status") or {}).get("connectorOffsets", {})


def test_source_offsets_are_altered_shown_pasted_and_forgotten(
    resources: Resources,
    start_operator: Start,
    worker: WorkerProcess,
    name: str,
    source: dict,
    file: Path,
) -> None:
    start_operator()
    resources.apply(resources.connector(name, {**source, "showOffsets": True}))
    resources.until_ready("kctr", name)
    partition = f'{{"filename":"{file}"}}'
    entry = {"partition": partition, "offset": '{"position": 8}'}
    resources.apply(resources.offsets("o", {"connectorName": name, "sourceOffsets": [entry]}))
    resources.kubectl("wait", "kctro/o", "--for=condition=Ready", "--timeout=60s")
    assert worker.client.offsets(name)[0]["offset"] == {"position": 8}

    found = resources.until("kctr", name, lambda r: shown(r).get("source"))
    sent = worker.client.offsets_text(name)
    for pasted in shown(found)["source"]:
        assert pasted["partition"] in sent
        assert pasted["offset"] in sent
    worker.client.reset_offsets(name)
    spec = {"connectorName": name, "sourceOffsets": shown(found)["source"]}
    resources.apply(resources.offsets("pasted", spec))
    resources.until_ready("kctro", "pasted")
    assert worker.client.offsets(name)[0]["offset"] == {"position": 8}

    spec = {"connectorName": name, "sourceOffsets": [{"partition": partition, "offset": None}]}
    resources.apply(resources.offsets("forget", spec))
    resources.until_ready("kctro", "forget")
    assert worker.client.offsets(name) == []
    resources.until("kctr", name, lambda r: shown(r)["source"] == [])
    resources.delete("kctr", name)


def test_sink_offsets_are_altered_shown_and_forgotten(
    resources: Resources, start_operator: Start, worker: WorkerProcess, name: str, sink: dict
) -> None:
    start_operator()
    resources.apply(resources.connector(name, {**sink, "showOffsets": True}))
    resources.until_ready("kctr", name)
    place = {"kafkaTopic": name, "kafkaPartition": 0}
    entry = {"partition": place, "offset": {"kafkaOffset": 2}}
    resources.apply(resources.offsets("o", {"connectorName": name, "sinkOffsets": [entry]}))
    resources.until_ready("kctro", "o")
    found = resources.until("kctr", name, lambda r: shown(r).get("sink"))
    assert shown(found)["sink"] == [entry]
    assert "source" not in shown(found)
    spec = {"connectorName": name, "sinkOffsets": [{"partition": place}]}
    resources.apply(resources.offsets("forget", spec))
    resources.until_ready("kctro", "forget")
    assert worker.client.offsets(name) == []

    resources.apply(resources.offsets("o2", {"connectorName": name, "sinkOffsets": [entry]}))
    resources.until_ready("kctro", "o2")
    spec = {"connectorName": name, "sinkOffsets": [{"partition": place, "offset": None}]}
    # `kubectl apply` leaves null out by itself, which means the same.
    manifest = json.dumps(resources.offsets("null", spec))
    resources.kubectl("create", "--validate=strict", "-f", "-", stdin=manifest)
    kept = resources.until_ready("kctro", "null")["spec"]["sinkOffsets"]
    assert kept == spec["sinkOffsets"], "null must not be pruned"
    assert worker.client.offsets(name) == []
    resources.delete("kctr", name)


def test_a_source_that_becomes_a_sink_shows_the_offsets_of_a_sink_alone(
    resources: Resources,
    start_operator: Start,
    worker: WorkerProcess,
    name: str,
    source: dict,
    sink: dict,
    file: Path,
) -> None:
    start_operator()
    resources.apply(resources.connector(name, {**source, "showOffsets": True}))
    resources.until_ready("kctr", name)
    worker.client.alter_offsets(
        name, [{"partition": {"filename": str(file)}, "offset": {"position": 8}}]
    )
    resources.until("kctr", name, lambda r: shown(r).get("source"))
    resources.apply(resources.connector(name, {**sink, "showOffsets": True}))
    found = resources.until("kctr", name, lambda r: "sink" in shown(r))
    assert found["status"]["connectorOffsets"].keys() == {"lastUpdateTime", "sink"}
    resources.delete("kctr", name)


def test_offsets_that_are_not_shown_are_not_asked_for_and_the_last_ones_stay(
    resources: Resources, start_operator: Start, between: RestBetween, name: str, source: dict
) -> None:
    operator = start_operator(interval=0.3)
    resources.apply(resources.connector(name, source))
    resources.until_ready("kctr", name)
    rounds = operator.counted("penstock_operator_rounds_total")
    eventually(lambda: operator.counted("penstock_operator_rounds_total") > rounds + 3)
    assert between.count("GET", "/offsets") == 0

    resources.patch("kctr", name, showOffsets=True)
    first = resources.until("kctr", name, shown)
    later = resources.until(
        "kctr", name, lambda r: shown(r)["lastUpdateTime"] > shown(first)["lastUpdateTime"]
    )
    assert shown(later)["source"] == []
    resources.patch("kctr", name, showOffsets=False)
    last = resources.until_ready("kctr", name)
    asked = between.count("GET", "/offsets")
    rounds = operator.counted("penstock_operator_rounds_total")
    eventually(lambda: operator.counted("penstock_operator_rounds_total") > rounds + 3)
    assert between.count("GET", "/offsets") == asked
    assert shown(resources.get("kctr", name)) == shown(last)
    resources.delete("kctr", name)


def test_a_refusal_ends_in_the_status_and_is_retried_after_a_stop(
    resources: Resources,
    start_operator: Start,
    worker: WorkerProcess,
    name: str,
    source: dict,
    file: Path,
) -> None:
    file.write_text("")
    start_operator()
    resources.apply(resources.connector(name, {**source, "state": "running"}))
    resources.until_ready("kctr", name)
    entry = {"partition": f'{{"filename":"{file}"}}', "offset": '{"position": 0}'}
    resources.apply(resources.offsets("o", {"connectorName": name, "sourceOffsets": [entry]}))
    assert "must be in the STOPPED state" in resources.until_not_ready("kctro", "o")
    assert "must be in the STOPPED state" in resources.kubectl("get", "kctro", "o")
    resources.patch("kctr", name, state="stopped")
    resources.until_ready("kctro", "o")
    resources.delete("kctr", name)


def test_an_unknown_connector_and_an_unknown_cluster_are_told(
    resources: Resources, start_operator: Start
) -> None:
    start_operator()
    entry = {"partition": "{}"}
    spec = {"connectorName": "unknown", "sourceOffsets": [entry]}
    lost = resources.offsets("lost", spec)
    lost["metadata"]["labels"]["strimzi.io/cluster"] = "nowhere"
    resources.apply(resources.offsets("o", spec), lost)
    assert "Connector unknown not found" in resources.until_not_ready("kctro", "o")
    told = resources.until("kctro", "lost", lambda r: message(r, "Ready"))
    assert "KafkaConnect resource 'nowhere'" in message(told, "Ready")
    unlabelled = resources.offsets("unlabelled", spec)
    del unlabelled["metadata"]["labels"]
    resources.apply(unlabelled)
    told = resources.until("kctro", "unlabelled", lambda r: message(r, "Ready"))
    assert "lacks label" in message(told, "Ready")


def test_a_paused_alteration_waits(
    resources: Resources,
    start_operator: Start,
    between: RestBetween,
    worker: WorkerProcess,
    name: str,
    source: dict,
    file: Path,
) -> None:
    start_operator()
    resources.apply(resources.connector(name, source))
    resources.until_ready("kctr", name)
    entry = {"partition": f'{{"filename":"{file}"}}', "offset": '{"position":4}'}
    waiting = resources.offsets("o", {"connectorName": name, "sourceOffsets": [entry]})
    waiting["metadata"]["annotations"] = {PAUSE: "true"}
    resources.apply(waiting)
    resources.until("kctro", "o", lambda r: condition(r, "ReconciliationPaused"))
    assert between.count("PATCH", "/offsets") == 0
    resources.kubectl("annotate", "kctro", "o", f"{PAUSE}-")
    resources.until_ready("kctro", "o")
    assert worker.client.offsets(name)[0]["offset"] == {"position": 4}
    resources.delete("kctr", name)


def test_text_that_is_not_json_is_told_and_not_sent(
    resources: Resources, start_operator: Start
) -> None:
    start_operator()
    spec = {"connectorName": "c", "sourceOffsets": [{"partition": "{oops"}]}
    resources.apply(resources.offsets("o", spec))
    assert "sourceOffsets[0].partition is not JSON" in resources.until_not_ready("kctro", "o")


@pytest.mark.parametrize("lists", [(), ("sourceOffsets", "sinkOffsets")])
def test_both_lists_or_none_are_refused_with_a_sentence(
    resources: Resources, lists: tuple[str, ...]
) -> None:
    manifest = resources.offsets("o", {"connectorName": "c", **{key: [] for key in lists}})
    told = resources.refused("apply", "-f", "-", stdin=json.dumps(manifest))
    assert "Give exactly one of sourceOffsets and sinkOffsets" in told


SAMPLE = """
apiVersion: kafka.strimzi.io/v1beta2
kind: KafkaConnectorOffsets
metadata:
  name: my-source-connector-offsets
  labels:
    # The strimzi.io/cluster label identifies the KafkaConnect instance
    # in which this connector is running
    strimzi.io/cluster: my-connect-cluster
spec:
  connectorName: my-source-connector
"""
HALVES = {
    "source": r"""
  sourceOffsets:
    - partition: "{\"connector-determined-partition\": \"1\"}"
      offset: "{\"connector-determined-offset\": \"1\"}"
""",
    "sink": """
  sinkOffsets:
    - partition:
        kafkaTopic: "my-topic"
        kafkaPartition: 1
      offset:
        kafkaOffset: 0
""",
}


@pytest.mark.parametrize("half", HALVES)
def test_each_half_of_the_sample_applies_as_it_is_written(resources: Resources, half: str) -> None:
    resources.kubectl("apply", "--validate=strict", "-f", "-", stdin=SAMPLE.rstrip() + HALVES[half])


def test_reset_needs_a_stopped_resource_and_works_with_the_stop_in_one_edit(
    resources: Resources,
    start_operator: Start,
    between: RestBetween,
    worker: WorkerProcess,
    name: str,
    source: dict,
    file: Path,
) -> None:
    start_operator()
    resources.apply(resources.connector(name, source))
    resources.until_ready("kctr", name)
    worker.client.alter_offsets(
        name, [{"partition": {"filename": str(file)}, "offset": {"position": 8}}]
    )
    running = {**source, "state": "running"}
    resources.apply(resources.connector(name, running))
    resources.until_ready("kctr", name)

    resources.annotate("kctr", name, f"{RESET}=true")
    told = resources.until("kctr", name, lambda r: condition(r, RESET))
    assert "not stopped" in message(told, RESET)
    resources.until_dropped("kctr", name, RESET)
    assert between.count("DELETE", "/offsets") == 0
    assert worker.client.offsets(name)

    both = resources.connector(name, source, **{RESET: "true"})
    resources.apply(both)
    resources.until_dropped("kctr", name, RESET)
    assert worker.client.offsets(name) == []
    assert between.changes()[-2:] == [
        ("PUT", f"/connectors/{name}/stop"),
        ("DELETE", f"/connectors/{name}/offsets"),
    ]
    assert not condition(resources.until_ready("kctr", name), RESET)
    resources.delete("kctr", name)


def test_strimzis_own_way_with_config_maps(
    resources: Resources,
    start_operator: Start,
    worker: WorkerProcess,
    name: str,
    source: dict,
    file: Path,
) -> None:
    start_operator("--strimzi-offsets")
    places = {
        "listOffsets": {"toConfigMap": {"name": "l"}},
        "alterOffsets": {"fromConfigMap": {"name": "l"}},
    }
    resources.apply(resources.connector(name, {**source, **places}))
    resources.until_ready("kctr", name)
    worker.client.alter_offsets(
        name, [{"partition": {"filename": str(file)}, "offset": {"position": 8}}]
    )

    def act(action: str) -> None:
        resources.annotate("kctr", name, f"strimzi.io/connector-offsets={action}")
        resources.until_dropped("kctr", name, "strimzi.io/connector-offsets")

    act("list")
    assert '"position": 8' in resources.get("configmap", "l")["data"]["offsets.json"]
    act("reset")
    assert worker.client.offsets(name) == []
    act("alter")
    assert worker.client.offsets(name)[0]["offset"] == {"position": 8}
    resources.delete("kctr", name)
