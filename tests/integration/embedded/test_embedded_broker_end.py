"""How embedded brokers end: with their parent, or with a reason."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from penstock.embedded import BrokerStartFailed, EmbeddedBroker, Jars, Java
from processes import gone
from waiting import eventually

PROGRAM = """
import pathlib, sys
from penstock.embedded import EmbeddedBroker, ensure_jars, find_java
java = find_java()
broker = EmbeddedBroker(pathlib.Path(sys.argv[1]), java, ensure_jars(java))
broker.start()
print(broker.pid, broker.bootstrap_servers, flush=True)
sys.stdin.read()
"""


def test_bad_setting_is_quoted_from_the_log(tmp_path: Path, java: Java, jars: Jars) -> None:
    broker = EmbeddedBroker(tmp_path, java, jars, extra={"log.segment.bytes": "many"})
    with pytest.raises(BrokerStartFailed) as raised:
        broker.start()
    message = str(raised.value)
    assert "log.segment.bytes" in message
    assert str(tmp_path / "kafka.log") in message
    assert not re.search(r"^\s+at ", message, re.MULTILINE)
    assert not broker.alive()


@pytest.mark.heavy
def test_ends_with_a_killed_parent_and_its_successor_waits_for_it(
    tmp_path: Path, java: Java, jars: Jars
) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as parent:
        assert parent.stdout is not None
        pid, address = parent.stdout.readline().decode().split()
        parent.kill()
    with EmbeddedBroker(tmp_path, java, jars) as successor:
        # It could start only once the other had given back folder and ports.
        assert gone(int(pid))
        assert successor.bootstrap_servers == address
    assert not successor.alive()


@pytest.mark.heavy
def test_java_is_gone_soon_after_its_parent_was_killed(tmp_path: Path, java: Java) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline().split()[0])
        parent.kill()
    eventually(lambda: gone(pid), within=30, what="the broker's end")
