"""`penstock apply` of resources of Kubernetes, without Kubernetes."""

from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from penstock.runtime.errors import BadRequest, NotFound

Run = Callable[..., Any]
CONNECTOR = """\
apiVersion: kafka.strimzi.io/v1beta2
kind: KafkaConnector
metadata:
  name: c
  labels: {strimzi.io/cluster: my-connect-cluster}
  annotations: {strimzi.io/offsets-reset: "true"}
spec:
  class: FileStreamSource
  tasksMax: 1
  state: stopped
  showOffsets: true
  config: {file: /f, topic: t}
"""
OFFSETS = r"""
apiVersion: kafka.strimzi.io/v1
kind: KafkaConnectorOffsets
metadata: {name: o}
spec:
  connectorName: c
  sourceOffsets:
    - partition: "{\"filename\": \"/f\"}"
      offset: "{\"position\": 8}"
"""


@pytest.fixture(autouse=True)
def worker(herder: Mock, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_URL", url)
    herder.info.side_effect = NotFound("Connector c not found")
    herder.create.return_value = {"name": "c", "config": {}}
    herder.status.return_value = {"connector": {"state": "STOPPED"}, "tasks": [], "type": "source"}
    herder.topics.return_value = {"c": {"topics": []}}
    herder.offsets.return_value = {
        "offsets": [{"partition": {"filename": "/f"}, "offset": {"p": 1}}]
    }
    herder.reset_offsets.return_value = "reset"
    herder.alter_offsets.return_value = "The offsets for this connector have been altered"


def apply(run: Run, tmp_path: Path, text: str) -> Any:
    file = tmp_path / "resources.yaml"
    file.write_text(text)
    return run("apply", "-f", str(file))


def test_connectors_and_offsets_one_after_the_other(run: Run, herder: Mock, tmp_path: Path) -> None:
    done = apply(run, tmp_path, f"{CONNECTOR}---{OFFSETS}")
    assert done.code == 0, done.err
    config = {"name": "c", "connector.class": "FileStreamSource", "tasks.max": "1"}
    herder.create.assert_called_once_with("c", {**config, "file": "/f", "topic": "t"}, "STOPPED")
    herder.reset_offsets.assert_called_once_with("c")
    entry = {"partition": {"filename": "/f"}, "offset": {"position": 8}}
    herder.alter_offsets.assert_called_once_with("c", [entry])
    assert "was created" in done.out
    assert """partition: '{"filename":"/f"}'""" in done.out
    assert "have been altered" in done.out
    assert "remove strimzi.io/offsets-reset" in done.err


def test_a_refusal_is_told(run: Run, herder: Mock, tmp_path: Path) -> None:
    herder.alter_offsets.side_effect = BadRequest("Connectors must be in the STOPPED state")
    done = apply(run, tmp_path, OFFSETS)
    assert done.code == 1
    assert "must be in the STOPPED state" in done.err


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (CONNECTOR.replace("class:", "klass:"), "spec.class is missing. spec.klass is not known."),
        (CONNECTOR.replace("tasksMax: 1", "tasksMax: 0"), "spec.tasksMax must be at least 1."),
        (CONNECTOR.replace("stopped", "asleep"), "spec.state must be one of running, paused"),
        (CONNECTOR.replace("showOffsets: true", "showOffsets: 1"), "must be of type boolean"),
        (OFFSETS.replace("sourceOffsets", "sinkOffsets"), "partition must be of type object"),
        (OFFSETS.partition("  sourceOffsets")[0], "Give exactly one of sourceOffsets and sink"),
        (OFFSETS.replace("strimzi.io/v1", "strimzi.io/v7"), "apiVersion must be"),
        (OFFSETS.replace("Offsets\n", "Topic\n", 1), "is none of KafkaConnector"),
        ("a: [", "is not YAML"),
        ("", "no connector and no resource"),
    ],
)
def test_what_is_wrong_is_told_before_anything_is_done(
    run: Run, herder: Mock, tmp_path: Path, text: str, words: str
) -> None:
    done = apply(run, tmp_path, text)
    assert done.code == 1
    assert words in done.err
    herder.create.assert_not_called()
    herder.alter_offsets.assert_not_called()


def test_a_paused_resource_is_left_alone(run: Run, herder: Mock, tmp_path: Path) -> None:
    text = OFFSETS.replace(
        "{name: o}", '{name: o, annotations: {strimzi.io/pause-reconciliation: "true"}}'
    )
    done = apply(run, tmp_path, text)
    assert "reconciliation is paused" in done.err
    herder.alter_offsets.assert_not_called()
