"""Where a worker listens for carriers, and where they reach it."""

from __future__ import annotations

import socket
from pathlib import Path

from penstock.engine.driver.engine import Engine
from penstock.engine.driver.session import LazySession, SparkSettings

OF_A_NAT = "203.0.113.7"


def test_executors_may_reach_the_port_by_an_address_that_this_machine_does_not_have(
    tmp_path: Path,
) -> None:
    config = {
        "spark.master": "spark://boss:7077",
        "spark.driver.host": OF_A_NAT,
        "spark.driver.bindAddress": "127.0.0.1",
        "rest.advertised.host.name": "worker.example.org",
    }
    engine = Engine(LazySession(SparkSettings(tmp_path, worker_config=config)))
    try:
        address = engine._hub.address
        assert address.host == OF_A_NAT
        socket.create_connection(("127.0.0.1", address.port), timeout=10).close()
        assert engine._certificate.startswith("-----BEGIN CERTIFICATE-----"), "not encrypted"
    finally:
        engine.stop()
