"""Real Kafka Connect of any version, also of those that know no offsets."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.kafka_connect import worker_command, worker_properties
from free_ports import free_port
from penstock.client import ConnectClient, ConnectError
from penstock.embedded import Java
from penstock.embedded.ivy import JarSet
from penstock.embedded.jars import ensure_folder
from penstock.embedded.process import WatchedProcess
from waiting import eventually

MODULES = ("connect-runtime", "connect-file", "connect-json")


@contextmanager
def old_connect(
    folder: Path, name: str, version: str, bootstrap_servers: str, java: Java
) -> Iterator[ConnectClient]:
    """A distributed worker whose group is ``name``; its jars are fetched first.

    It is ready when it lists its connectors: these versions know no ``/health``.
    """
    jars = ensure_folder(_jar_set(version), java) / "connect"
    port = free_port()
    # The file connectors are no default plugins, and these versions find others by path alone.
    settings = {**worker_properties(name, bootstrap_servers, port), "plugin.path": str(jars)}
    settings.pop("plugin.discovery")
    command = worker_command(folder, java, f"{jars}/*", settings)
    process = WatchedProcess(command, folder / "connect.log")
    client = ConnectClient(f"http://127.0.0.1:{port}")

    def answers() -> bool:
        assert process.alive(), (folder / "connect.log").read_text()[-3000:]
        try:
            return client.connectors() == []
        except ConnectError:
            return False

    try:
        eventually(answers, within=120, what=f"Kafka Connect {version}", every=0.2)
        yield client
    finally:
        client.close()
        process.stop(30)


def _jar_set(version: str) -> JarSet:
    dependencies = "\n".join(
        f'    <dependency org="org.apache.kafka" name="{module}" rev="{version}" '
        'conf="connect->default"/>'
        for module in MODULES
    )
    xml = f"""\
<ivy-module version="2.0">
  <info organisation="penstock" module="old-connect"/>
  <configurations>
    <conf name="connect"/>
  </configurations>
  <dependencies>
{dependencies}
  </dependencies>
</ivy-module>
"""
    return JarSet(f"The jars of Kafka Connect {version}", ("connect",), xml, megabytes=40)
