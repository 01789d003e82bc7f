"""Hundreds of resources."""

from collections.abc import Callable

import pytest

from kube_api import KubeServer
from many_connectors import await_settled, create_many, delete_many
from operator_process import OperatorProcess
from rest_between import RestBetween
from waiting import eventually
from worker_process import WorkerProcess

COUNT = 500
ROUNDS = "penstock_operator_rounds_total"


@pytest.mark.heavy
def test_five_hundred_connectors_settle_with_a_request_each_and_go_again(
    kube: KubeServer,
    namespace: str,
    between: RestBetween,
    worker: WorkerProcess,
    start_operator: Callable[..., OperatorProcess],
) -> None:
    operator = start_operator(interval=20)
    create_many(kube, namespace, COUNT)
    await_settled(kube, namespace, COUNT)
    assert between.changes() == [("POST", "/connectors")] * COUNT
    assert len(worker.client.connectors()) >= COUNT

    writes = operator.kube_writes()
    rounds = operator.counted(ROUNDS, kind="KafkaConnector")
    eventually(
        lambda: operator.counted(ROUNDS, kind="KafkaConnector") >= rounds + COUNT,
        within=120,
        every=1,
        what="each had another round",
    )
    assert operator.kube_writes() == writes
    assert len(between.changes()) == COUNT

    delete_many(kube, namespace)
    assert between.count("DELETE", f"-{namespace}") == COUNT
    assert operator.counted(ROUNDS, settled="false") == 0
