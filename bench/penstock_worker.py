"""``penstock up`` as it is installed, on a broker that runs already or on its own."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from bench.rest_worker import RestWorker
from penstock.embedded.ports import free_port
from penstock.embedded.server_properties import render

LABEL = "penstock"


def start_penstock(
    folder: Path,
    name: str,
    bootstrap_servers: str | None,
    *,
    properties: Mapping[str, str] | None = None,
) -> RestWorker:
    """Start a worker whose group and topics are called ``name``; without brokers it embeds one.

    The same folder and name again start the same worker again, with all it knows.
    """
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "worker.properties"
    file.write_text(render({**_properties(name), **(properties or {})}), encoding="ascii")
    port = free_port()
    command = [
        *(sys.executable, "-m", "penstock", "up"),
        *("--data-dir", str(folder / "data"), "--port", str(port)),
        *("--worker-config", str(file)),
        *(("--bootstrap-servers", bootstrap_servers) if bootstrap_servers else ()),
    ]
    return RestWorker(LABEL, command, port, folder / "up.log")


def _properties(name: str) -> dict[str, str]:
    return {
        "group.id": name,
        "config.storage.topic": f"{name}-configs",
        "offset.storage.topic": f"{name}-offsets",
        "status.storage.topic": f"{name}-status",
    }
