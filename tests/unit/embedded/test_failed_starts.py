"""A broker that was killed, and one that does not start; Java is played by a script."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.embedded import BrokerStartFailed, EmbeddedBroker, Jars, Java
from penstock.embedded.data_folder import was_killed

JAVA = """#!/bin/sh
for settings; do :; done
grep -q '^process.roles=controller$' "$settings" || exit 1
trap 'cp "{metadata}" "{told}"; exit 0' TERM
echo '[QuorumController id=1] Performing controller activation.'
echo 'BrokerRegistrationChangeRecord(brokerId=1, brokerEpoch=12, fenced=1)'
sleep 0.5
echo 'that it is fenced' >> "{metadata}"
while :; do sleep 0.05; done
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The data folder of a broker."""
    metadata = tmp_path / "data" / "log" / "__cluster_metadata-0"
    metadata.mkdir(parents=True)
    (metadata / "00000000000000000000.log").write_text("that it is registered\n")
    (metadata.parent / "meta.properties").touch()
    return tmp_path / "data"


@pytest.fixture
def broker(folder: Path, tmp_path: Path) -> EmbeddedBroker:
    """Its controller runs until it is told to end; the broker itself does not start."""
    metadata = folder / "log" / "__cluster_metadata-0" / "00000000000000000000.log"
    java = tmp_path / "java"
    java.write_text(JAVA.format(metadata=metadata, told=tmp_path / "told"))
    java.chmod(0o755)
    return EmbeddedBroker(folder, Java(java, tmp_path, 17, "17"), Jars(tmp_path, []))


def test_a_controller_is_ended_only_after_it_has_written_what_it_said(
    broker: EmbeddedBroker, tmp_path: Path
) -> None:
    """Otherwise it would not let the next broker in, for a day."""
    with pytest.raises(BrokerStartFailed):
        broker.start()
    assert (tmp_path / "told").read_text() == "that it is registered\nthat it is fenced\n"


def test_after_a_start_that_failed_the_next_one_recovers(
    broker: EmbeddedBroker, folder: Path
) -> None:
    """Kafka says that it has shut down in order, even if the controller did not let it in."""
    (folder / "log" / ".kafka_cleanshutdown").touch()
    assert not was_killed(folder)
    with pytest.raises(BrokerStartFailed):
        broker.start()
    assert was_killed(folder)
