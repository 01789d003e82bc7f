"""An operator that is killed, wherever that is, finishes after its restart, and finishes once.

It is killed before and after each single request that changes something, of the worker or of the
API server: both stand behind a proxy. Each story is told again and again, with the kill one request
later every time, until the kill comes too late to matter.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from kube_api import KubeServer
from kube_resources import Resources, annotations_of, condition, is_current
from operator_killer import OperatorKiller
from operator_process import OperatorProcess
from penstock.client import ConnectApiError
from rest_between import RestBetween
from waiting import eventually
from worker_process import WorkerProcess

pytestmark = pytest.mark.heavy
Json = dict[str, Any]
RESET, OFFSETS = "strimzi.io/offsets-reset", "strimzi.io/connector-offsets"
RESTART, RESTART_TASK = "strimzi.io/restart", "strimzi.io/restart-task"


class Scene:
    """A connector in the middle of its life, and the operator that may be killed."""

    def __init__(
        self,
        resources: Resources,
        between: RestBetween,
        killer: OperatorKiller,
        worker: WorkerProcess,
        spec: Json,
        name: str,
    ) -> None:
        self.resources, self.between, self.killer = resources, between, killer
        self.worker, self.spec, self.name = worker, spec, name
        self.numbers = itertools.count()
        self.partition = {"filename": spec["config"]["file"]}

    def until(self, kind: str, name: str, holds: Callable[[Json], Any]) -> None:
        """As `Resources.until`; an operator that was killed is started again."""

        def looked(found: Json) -> Any:
            self.killer.revive()
            return holds(found)

        self.resources.until(kind, name, looked)

    def until_ready(self, kind: str, name: str) -> None:
        self.until(kind, name, lambda r: is_current(r) and condition(r, "Ready") == "True")

    def become(self, **spec: Any) -> None:
        """Edit the connector, and wait."""
        self.resources.patch("kctr", self.name, **spec)
        self.until_ready("kctr", self.name)

    def ask_for(self, annotation: str, value: str) -> None:
        """Annotate the connector, and wait until that is done."""
        self.resources.annotate("kctr", self.name, f"{annotation}={value}")
        self.until("kctr", self.name, lambda r: annotation not in annotations_of(r))
        self.until_ready("kctr", self.name)

    def set_position(self, position: int) -> None:
        """Behind the operator's back."""
        offset = {"position": position}
        self.worker.client.alter_offsets(
            self.name, [{"partition": self.partition, "offset": offset}]
        )


@pytest.fixture
def scene(
    kube: KubeServer,
    resources: Resources,
    between: RestBetween,
    worker: WorkerProcess,
    source: Json,
    tmp_path: Path,
    name: str,
) -> Iterator[Scene]:
    """A connector that is stopped, at the end of its file, and served by the operator."""
    to_kube = RestBetween(kube.url, kube.http())
    kubeconfig = yaml.safe_load(kube.kubeconfig.read_text())
    kubeconfig["clusters"][0]["cluster"] = {"server": to_kube.url}
    (tmp_path / "kubeconfig").write_text(yaml.safe_dump(kubeconfig))
    options = ("-n", resources.namespace, "--no-leader-election", "--interval", "1")
    operator = OperatorProcess(
        tmp_path / "operator", tmp_path / "kubeconfig", *options, "--strimzi-offsets"
    )
    places = {
        "listOffsets": {"toConfigMap": {"name": "listed"}},
        "alterOffsets": {"fromConfigMap": {"name": "listed"}},
    }
    try:
        operator.start()
        killer = OperatorKiller(operator, between, to_kube)
        made = Scene(resources, between, killer, worker, {**source, **places}, name)
        resources.apply(resources.connector(name, made.spec))
        made.until_ready("kctr", name)
        made.set_position(8)
        yield made
        resources.delete("kctr", name)
    finally:
        operator.close()
        to_kube.close()


def create_and_delete(scene: Scene) -> None:
    resources, name = scene.resources, f"{scene.name}-{next(scene.numbers)}"
    resources.apply(resources.connector(name, scene.spec))
    scene.until_ready("kctr", name)
    resources.kubectl("delete", "kctr", name, "--wait=false")

    def listed() -> bool:
        scene.killer.revive()
        return f"/{name}\n" in resources.kubectl("get", "kctr", "-o", "name")

    eventually(lambda: not listed(), within=60, every=0.2)
    with pytest.raises(ConnectApiError, match="not found"):
        scene.worker.client.info(name)


def alter(scene: Scene) -> None:
    number = next(scene.numbers)
    position = 4 * (number % 2)
    entry = {
        "partition": f'{{"filename":"{scene.partition["filename"]}"}}',
        "offset": f'{{"position":{position}}}',
    }
    spec = {"connectorName": scene.name, "sourceOffsets": [entry]}
    scene.resources.apply(scene.resources.offsets(f"o-{number}", spec))
    scene.until_ready("kctro", f"o-{number}")
    assert scene.worker.client.offsets(scene.name)[0]["offset"] == {"position": position}


def update(scene: Scene) -> None:
    size = str(next(scene.numbers) + 1)
    scene.become(config={**scene.spec["config"], "batch.size": size})
    assert scene.worker.client.config(scene.name)["batch.size"] == size


def run_pause_and_stop(scene: Scene) -> None:
    for state, shown in (("running", "RUNNING"), ("paused", "PAUSED"), ("stopped", "STOPPED")):
        scene.become(state=state)
        assert scene.worker.client.status(scene.name)["connector"]["state"] == shown


def restart(scene: Scene) -> None:
    scene.ask_for(RESTART, "includeTasks")


def restart_task(scene: Scene) -> None:
    scene.become(state="running")
    scene.ask_for(RESTART_TASK, "0")
    scene.become(state="stopped")


def stop_and_reset(scene: Scene) -> None:
    scene.set_position(8)
    scene.ask_for(RESET, "true")
    assert scene.worker.client.offsets(scene.name) == []
    assert not condition(scene.resources.get("kctr", scene.name), RESET)
    scene.set_position(8)


def strimzis_way(scene: Scene) -> None:
    scene.set_position(4)
    scene.ask_for(OFFSETS, "list")
    scene.ask_for(OFFSETS, "reset")
    assert scene.worker.client.offsets(scene.name) == []
    scene.ask_for(OFFSETS, "alter")
    assert scene.worker.client.offsets(scene.name)[0]["offset"] == {"position": 4}


ONCE = 1
HARMLESS_TWICE = 2
"""What asks for the same again, and whose answer was lost: no operator can know better."""
STORIES: dict[Callable[[Scene], None], dict[tuple[str, str], int]] = {
    create_and_delete: {("POST", "/connectors"): ONCE},
    alter: {("PATCH", "/offsets"): ONCE},
    update: {("PUT", "/config"): ONCE},
    run_pause_and_stop: {("PUT", "/stop"): ONCE, ("PUT", "/pause"): HARMLESS_TWICE},
    restart: {("POST", "/restart"): HARMLESS_TWICE},
    restart_task: {("POST", "/tasks/0/restart"): HARMLESS_TWICE},
    stop_and_reset: {("DELETE", "/offsets"): HARMLESS_TWICE},
    strimzis_way: {("PATCH", "/offsets"): HARMLESS_TWICE, ("DELETE", "/offsets"): HARMLESS_TWICE},
}


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__)
def test_killed_anywhere_it_finishes_once(
    scene: Scene, story: Callable[[Scene], None], when: str
) -> None:
    kills = 0
    for number in itertools.count(1):
        begun = len(scene.between.seen)
        scene.killer.arm(when, number)
        story(scene)
        killed = scene.killer.disarm()
        asked = scene.between.seen[begun:]
        for (method, ending), most in STORIES[story].items():
            count = sum(m == method and path.endswith(ending) for m, path in asked)
            assert 1 <= count <= most, f"killed {scene.killer.killed_at}: {asked}"
        if not killed:
            break
        kills += 1
    assert kills >= 3
