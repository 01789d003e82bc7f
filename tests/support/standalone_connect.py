"""Real Kafka Connect in standalone mode, which keeps its offsets in a file."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from bench.kafka_connect import STRING_CONVERTER, java_command
from free_ports import free_port
from penstock.embedded import Java
from penstock.embedded.server_properties import render

MAIN_CLASS = "org.apache.kafka.connect.cli.ConnectStandalone"
OFFSETS = "connect-standalone.offsets"
STOP_SECONDS = 30


@contextmanager
def standalone_connect(
    folder: Path,
    bootstrap_servers: str,
    java: Java,
    class_path: str,
    connectors: Sequence[Mapping[str, str]],
) -> Iterator[Path]:
    """Runs in ``folder``, to which paths are relative; its offsets file is complete at the end."""
    files = [folder / f"connector-{number}.properties" for number in range(len(connectors))]
    worker = folder / "worker.properties"
    worker.write_text(render(_worker(bootstrap_servers)), encoding="ascii")
    for file, config in zip(files, connectors, strict=True):
        file.write_text(render(config), encoding="ascii")
    command = [*java_command(java, class_path, MAIN_CLASS), str(worker), *map(str, files)]
    with (folder / "connect.log").open("wb") as log:
        process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)
    try:
        yield folder / OFFSETS
        process.terminate()
        process.wait(STOP_SECONDS)
    finally:
        process.kill()
        process.wait(STOP_SECONDS)


def _worker(bootstrap_servers: str) -> dict[str, str]:
    return {
        "bootstrap.servers": bootstrap_servers,
        "listeners": f"http://127.0.0.1:{free_port()}",
        "key.converter": STRING_CONVERTER,
        "value.converter": STRING_CONVERTER,
        "offset.storage.file.filename": OFFSETS,
        "plugin.discovery": "service_load",
    }
