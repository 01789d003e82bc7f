"""From Kafka Connect's standalone mode: its offsets file, imported into our worker."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from penstock.cli.offsets_file import read_offsets_file
from penstock.client import ConnectClient
from penstock.embedded import EmbeddedBroker, Java
from standalone_connect import standalone_connect
from takeover_story import mirror
from topics import Topics
from waiting import eventually


@pytest.mark.heavy
def test_a_file_of_real_kafka_connect_is_carried_on(
    connectors: ConnectClient,
    broker: EmbeddedBroker,
    topics: Topics,
    java: Java,
    connect_class_path: str,
    tmp_path: Path,
) -> None:
    lines, topic, original = tmp_path / "lines.txt", "standalone-lines", "standalone-original"
    lines.write_text("first\nsecond\nthird\n")
    for made in (topic, original):
        topics.create(made)
    topics.produce(original, [b"0", b"1", b"2"])
    source = {
        "connector.class": "org.apache.kafka.connect.file.FileStreamSourceConnector",
        "file": "lines.txt",
        "topic": topic,
    }
    copied = {**mirror(broker.bootstrap_servers), "topics": original}
    run = [
        {"name": "lines", **source},
        {"name": "größe", **source, "topic": f"{topic}-2"},
        {"name": "mirror", **copied},
    ]
    with standalone_connect(
        tmp_path, broker.bootstrap_servers, java, connect_class_path, run
    ) as offsets:
        moved = (topic, f"{topic}-2", f"origin.{original}")
        eventually(
            lambda: all(len(topics.values(t)) >= 3 for t in moved),
            within=180,
            every=0.2,
            what="lines",
        )

    assert read_offsets_file(offsets)["lines"] == [
        {"partition": {"filename": "lines.txt"}, "offset": {"position": 19}}
    ]
    connectors.create("lines", source, "STOPPED")
    connectors.create("mirror", copied, "STOPPED")
    done = _import(connectors, offsets)
    assert done.returncode == 1
    assert "No connector here is called größe" in done.stderr
    assert connectors.offsets("lines") == read_offsets_file(offsets)["lines"]

    topics.produce(original, [b"3"])
    connectors.resume("mirror")
    eventually(lambda: len(topics.values(f"origin.{original}")) >= 4, what="the last record")
    assert topics.values(f"origin.{original}") == ["0", "1", "2", "3"]
    keys = [m.key() for m in topics.messages("penstock-offsets") if b'"mirror"' in (m.key() or b"")]
    wanted = b'["mirror",{"cluster":"origin","partition":0,"topic":"standalone-original"}]'
    assert set(keys) == {wanted}


def _import(client: ConnectClient, file: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "penstock", "import-offsets", str(file), "--url", client.url],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
