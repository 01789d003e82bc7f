"""The charm with ops' own testing harness, deploying through a real API server.

No pod runs there: the Service's address alone is mapped to a real worker.
"""

import importlib.util
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ops
import pytest
import yaml
from ops import testing

from forward_proxy import ForwardProxy
from kube_api import KubeServer
from penstock.client import layer
from worker_process import WorkerProcess

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "kubernetes" / "08-upper-layer" / "reactive"
SANDBOX: dict[str, Any] = {"insecure": True, "workers": 2, "topics": "charm-topic"}


@pytest.fixture
def charm(
    kube: KubeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> testing.Context[Any]:
    """The charm with the example's upper layer in it, which needs a relation with MongoDB."""
    folder = tmp_path / "charm"
    shutil.copytree(ROOT / "charm", folder)
    shutil.copytree(EXAMPLE, folder / "reactive", dirs_exist_ok=True)
    monkeypatch.syspath_prepend(str(folder / "lib"))
    monkeypatch.setenv("KUBECONFIG", str(kube.kubeconfig))
    monkeypatch.setenv("PENSTOCK_LAYER_STATE", str(tmp_path / "layer.json"))
    monkeypatch.setenv("MONGODB_FILE", str(tmp_path / "out.txt"))
    spec = importlib.util.spec_from_file_location("base_charm", folder / "src" / "charm.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    meta = yaml.safe_load((folder / "metadata.yaml").read_text())
    meta["requires"]["mongodb"] = {"interface": "mongodb"}
    options = yaml.safe_load((folder / "config.yaml").read_text())
    return testing.Context(
        module.KafkaConnectBaseCharm, meta=meta, config=options, charm_root=folder, app_name="app"
    )


@pytest.fixture
def proxy(worker: WorkerProcess, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    """Addresses that lead to the worker of this run: none, until a test adds one."""
    mapped: dict[str, str] = {}
    made = ForwardProxy(mapped)
    for key, value in made.environment().items():
        monkeypatch.setenv(key, value)
    yield mapped
    made.close()


def objects(kube: KubeServer, namespace: str) -> list[Any]:
    kinds = "sa,cm,svc,deploy,sts,pdb,netpol"
    listed = kube.json("-n", namespace, "get", kinds, "-l", "app.kubernetes.io/instance=app")
    return list(listed["items"])


def test_the_workflow_in_its_order(
    kube: KubeServer,
    namespace: str,
    charm: testing.Context[Any],
    proxy: dict[str, str],
    worker: WorkerProcess,
) -> None:
    model = testing.Model(name=namespace)
    kafka = testing.Relation("kafka", remote_app_data={"endpoints": "kafka:9092"})
    mongodb = testing.Relation("mongodb")

    def told(*relations: testing.Relation, **config: Any) -> Any:
        state = testing.State(
            config={**SANDBOX, **config}, relations=list(relations), model=model, leader=True
        )
        return charm.run(charm.on.config_changed(), state).unit_status

    # Nothing is deployed before the upper layer says so, and that waits for its relation.
    assert "kafka-connect-base.install" in told(kafka).message
    assert objects(kube, namespace) == []
    assert told(mongodb) == ops.WaitingStatus(
        "waiting for the relation kafka, or bootstrap.servers"
    )
    assert objects(kube, namespace) == []

    waiting = told(kafka, mongodb)
    assert waiting == ops.WaitingStatus("waiting for the workers to answer (0 of 2 are ready)")
    config = kube.json("-n", namespace, "get", "cm", "app-connect")["data"]["worker.properties"]
    assert "bootstrap.servers=kafka:9092\n" in config
    assert "group.id=app\n" in config
    assert "key.converter=org.apache.kafka.connect.json.JsonConverter\n" in config

    service = layer.get_worker_service()
    assert service is not None
    proxy[service] = worker.url
    assert told(kafka, mongodb) == ops.ActiveStatus("ready")
    assert worker.client.config("mongodb-sink")["topics"] == "charm-topic"
    assert told(kafka, mongodb) == ops.ActiveStatus("ready")

    changed = told(kafka, mongodb, **{"worker-config": "key.converter=Mine\ngroup.id=hard"})
    assert changed == ops.ActiveStatus("ready")
    config = kube.json("-n", namespace, "get", "cm", "app-connect")["data"]["worker.properties"]
    assert "key.converter=Mine\n" in config
    assert "group.id=hard\n" in config

    wrong = told(kafka, mongodb, topics="a/b")
    assert isinstance(wrong, ops.BlockedStatus)
    assert "cannot name a topic" in wrong.message
    unsafe = told(kafka, mongodb, insecure=False)
    assert isinstance(unsafe, ops.BlockedStatus)
    assert "users and TLS" in unsafe.message

    state = testing.State(config=SANDBOX, model=model)
    charm.run(charm.on.remove(), state)
    assert objects(kube, namespace) == []
    worker.client.delete("mongodb-sink")


def test_the_names_of_the_documents_can_be_imported(
    charm: testing.Context[Any],
) -> None:
    import importlib

    for name in ("kafka_connect_helpers", "kafka_connect_base"):
        module = importlib.import_module(f"charms.layer.{name}")
        for function in (
            "set_worker_config",
            "get_worker_service",
            "set_base_image",
            "register_connector",
            "unregister_connector",
            "list_connectors",
            "connector_status",
            "connector_restart",
            "connector_pause",
            "connector_resume",
            "list_tasks",
        ):
            assert callable(getattr(module, function))


def test_every_option_but_two_has_a_default() -> None:
    options = yaml.safe_load((ROOT / "charm" / "config.yaml").read_text())["options"]
    without = {name for name, option in options.items() if "default" not in option}
    assert without == {"worker-config", "group-id"}
