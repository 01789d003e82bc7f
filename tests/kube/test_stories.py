"""The numbered stories, as a user would run them."""

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from free_ports import free_port
from kube_api import KubeServer, programs
from kube_resources import apply_cluster
from operator_process import OperatorProcess
from own_cluster import own_topics
from penstock.client import ConnectClient
from penstock.embedded import EmbeddedBroker
from worker_process import WorkerProcess

STORIES = Path(__file__).resolve().parents[2] / "examples" / "kubernetes"


@pytest.fixture
def environment(
    kube: KubeServer, namespace: str, cluster: str, broker: EmbeddedBroker, tmp_path: Path
) -> dict[str, str]:
    """A kubeconfig of the test's namespace, kubectl and penstock on the PATH."""
    file = tmp_path / "kubeconfig"
    file.write_text(kube.kubeconfig.read_text())
    kube.kubectl("config", "set-context", "--current", "--namespace", namespace, kubeconfig=file)
    path = f"{programs()}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    return {
        **os.environ,
        "KUBECONFIG": str(file),
        "PATH": path,
        "PENSTOCK_BOOTSTRAP_SERVERS": broker.bootstrap_servers,
    }


@pytest.fixture
def own_worker(
    kube: KubeServer, namespace: str, broker: EmbeddedBroker, tmp_path: Path, name: str
) -> Iterator[dict[str, str]]:
    """A cluster of the test's own; a file that appears asks for a restart, and goes when done."""
    process = WorkerProcess(
        tmp_path / "own",
        port=free_port(),
        bootstrap_servers=broker.bootstrap_servers,
        properties=own_topics(name),
    )
    process.start()
    apply_cluster(kube, namespace, process.url)
    asked, ended = tmp_path / "asked", threading.Event()

    def restart() -> None:
        while not ended.wait(0.1):
            if asked.exists():
                process.stop()
                process.start()
                asked.unlink()

    threading.Thread(target=restart, daemon=True).start()
    script = tmp_path / "restart.sh"
    script.write_text(f"touch {asked}; while [ -e {asked} ]; do sleep 0.1; done\n")
    yield {"OFFSETS_TOPIC": f"{name}-offsets", "RESTART_WORKER": f"bash {script}"}
    ended.set()
    process.close()


@pytest.mark.parametrize("story", sorted(STORIES.glob("[0-9]*.sh")), ids=lambda file: file.stem)
def test_story(
    story: Path,
    kube: KubeServer,
    namespace: str,
    environment: dict[str, str],
    start_operator: Callable[..., OperatorProcess],
    request: pytest.FixtureRequest,
) -> None:
    if "OTHER_CLUSTER" in story.read_text():
        client: ConnectClient = request.getfixturevalue("connect")
        apply_cluster(kube, namespace, client.url, "other-connect-cluster")
    if "RESTART_WORKER" in story.read_text():
        environment |= request.getfixturevalue("own_worker")
    start_operator()
    done = subprocess.run(
        ["bash", str(story)], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
