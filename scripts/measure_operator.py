"""What an idle operator costs: requests and CPU per minute, with 50 and 500 connectors.

    .venv/bin/python scripts/measure_operator.py [50] [500]

On a real API server and a real worker (whose connectors are stopped: they need no Spark). The
operator looks every 20 s instead of every 120 s, for a minute; figures are given for 120 s.
"""

# ruff: noqa: E402 - what is imported is on the path that is set first

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "support")]

from free_ports import free_port
from kube_api import KubeServer, kube_server
from kube_resources import apply_cluster
from many_connectors import await_settled, create_many, delete_many
from operator_process import OperatorProcess
from penstock.operator.crds import crds
from rest_between import RestBetween
from worker_process import WorkerProcess

SECONDS, INTERVAL, DEFAULT_INTERVAL = 60, 20, 120
HEADINGS = (
    "| connectors | offsets | settled in | REST/min | Kubernetes/min | writes/min | CPU s/min |"
)
KUBE_CALLS = "penstock_operator_kube_calls_total"


def main() -> None:
    """Print a table."""
    with tempfile.TemporaryDirectory() as name:
        measure_all(Path(name))


def measure_all(folder: Path) -> None:
    """All rows, on one API server and one worker."""
    (folder / "kube").mkdir()
    with kube_server(folder / "kube") as kube:
        for manifest in crds():
            kube.api.apply(manifest)
        worker = WorkerProcess(folder / "worker", port=free_port())
        try:
            worker.start()
            print(HEADINGS)
            print("|---|---|---|---|---|---|---|")
            for count in [int(given) for given in sys.argv[1:]] or (50, 500):
                for shown in (False, True):
                    measure(kube, worker, folder, count, shown=shown)
        finally:
            worker.close()


def measure(
    kube: KubeServer, worker: WorkerProcess, folder: Path, count: int, *, shown: bool
) -> None:
    """One row."""
    namespace = f"n{count}{'-shown' if shown else ''}"
    kube.kubectl("create", "namespace", namespace)
    between = RestBetween(worker.url)
    apply_cluster(kube, namespace, between.url)
    operator = OperatorProcess(
        folder / namespace,
        kube.kubeconfig,
        *("-n", namespace, "--no-leader-election", "--interval", str(INTERVAL)),
    )
    try:
        operator.start()
        began = time.monotonic()
        create_many(kube, namespace, count, shown=shown)
        await_settled(kube, namespace, count, within=900)
        took = time.monotonic() - began
        report(operator, between, count, shown, took)
        delete_many(kube, namespace)
    finally:
        operator.close()
        between.close()


def report(
    operator: OperatorProcess, between: RestBetween, count: int, shown: bool, took: float
) -> None:
    """Look for a minute, and print."""
    assert operator.process is not None  # noqa: S101 (it was started)
    process = psutil.Process(operator.process.pid)

    def figures() -> tuple[float, ...]:
        times = process.cpu_times()
        return (
            len(between.seen),
            operator.counted(KUBE_CALLS),
            operator.counted(KUBE_CALLS, verb="PATCH"),
            times.user + times.system,
        )

    before = figures()
    time.sleep(SECONDS)
    scale = INTERVAL / DEFAULT_INTERVAL * 60 / SECONDS
    rest, kube, writes, cpu = ((b - a) * scale for a, b in zip(before, figures(), strict=True))
    row = f"| {count} | {'shown' if shown else 'not shown'} | {took:.0f} s "
    print(f"{row}| {rest:.0f} | {kube:.0f} | {writes:.0f} | {cpu:.2f} |", flush=True)


if __name__ == "__main__":
    main()
