"""The ports that `penstock up` would listen on."""

from __future__ import annotations

import errno
from urllib.parse import urlsplit

import psutil

from penstock.cli.doctor.asked import Asked
from penstock.cli.doctor.findings import Finding, failed, ok, warning
from penstock.cli.doctor.folders import process_name
from penstock.cli.running import Running
from penstock.embedded.ports import HOST, hindrance


def check(asked: Asked) -> list[Finding]:
    """The REST port, and Kafka's where one is embedded."""
    found = [port_finding("REST port", "--port", asked.port, asked)]
    if not asked.given_brokers:
        found.append(port_finding("Kafka port", "--kafka-port", asked.kafka_port or 0, asked))
    return found


def port_finding(name: str, option: str, port: int, asked: Asked) -> Finding:
    """Whether a port is free, or rightly taken."""
    if port == 0:
        return ok(name, "a free one, chosen at the start")
    error = hindrance(port)
    if error is None:
        return ok(name, f"{port} is free")
    if error.errno == errno.EACCES:
        found = f"{port} needs more rights"
        return failed(name, found, f"Choose one above 1023 with {option}.")
    if error.errno != errno.EADDRINUSE:
        found = f"{port} on {HOST} cannot be used: {error.strerror}"
        return failed(name, found, f"Choose another with {option}.")
    return _taken(name, option, port, asked)


def _taken(name: str, option: str, port: int, asked: Asked) -> Finding:
    worker = _worker_on(port, asked.workers)
    if worker is None:
        found = f"{port} on {HOST} is taken by {process_name(listener(port))}"
        return failed(name, found, f"Stop that program, or choose another port with {option}.")
    found = f"{port} is used by your worker at {worker.url} (process {worker.pid})"
    if worker is asked.own_worker:
        return ok(name, found)
    advice = (
        f"To look at that worker: penstock doctor --data-dir {worker.data_dir}\n"
        f"For a second one choose another port with {option}."
    )
    return warning(name, f"{found}, on data folder {worker.data_dir}", advice)


def _worker_on(port: int, workers: tuple[Running, ...]) -> Running | None:
    for worker in workers:
        addresses = [worker.url, *(f"//{one}" for one in worker.bootstrap_servers.split(","))]
        if any(_is_here(address, port) for address in addresses):
            return worker
    return None


def _is_here(address: str, port: int) -> bool:
    try:
        parts = urlsplit(address)
        return (parts.hostname, parts.port) == (HOST, port)
    except ValueError:
        return False


def listener(port: int) -> int | None:
    """The process that listens on a port, where the system tells."""
    try:
        listening = psutil.net_connections("tcp")
    except psutil.Error:
        return None
    # A connection's address is a pair of host and port, or empty.
    on_port = (c.pid for c in listening if c.status == psutil.CONN_LISTEN and port in c.laddr[1:])
    return next(filter(None, on_port), None)
