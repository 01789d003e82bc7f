"""Quotas of a broker, set with its own tool: no Python client can."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from penstock.embedded import Jars, Java


class Quotas:
    """Of the cluster at ``bootstrap_servers``."""

    def __init__(self, bootstrap_servers: str, java: Java, jars: Jars) -> None:
        self._command = [
            *(str(java.path), "-XX:TieredStopAtLevel=1", "-cp", f"{jars.broker}/*"),
            *("kafka.admin.ConfigCommand", "--bootstrap-server", bootstrap_servers, "--alter"),
        ]

    @contextmanager
    def producing(self, client: str, byte_rate: int) -> Iterator[None]:
        """A client, by its ``client.id``, may produce so many bytes a second, in a block."""
        of = ("--entity-type", "clients", "--entity-name", client)
        self._run("--add-config", f"producer_byte_rate={byte_rate}", *of)
        try:
            yield
        finally:
            self._run("--delete-config", "producer_byte_rate", *of)

    def _run(self, *arguments: str) -> None:
        run = subprocess.run(
            [*self._command, *arguments], capture_output=True, text=True, check=False, timeout=60
        )
        assert run.returncode == 0, run.stdout + run.stderr
