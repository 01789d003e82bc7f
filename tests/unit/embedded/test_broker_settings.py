"""What the broker is told, and on which ports."""

import socket
from pathlib import Path

import pytest

from penstock.embedded import EmbeddedBroker, Jars, Java, PortInUse
from penstock.embedded.kafka_command import server_command
from penstock.embedded.kafka_log import ROTATE_BYTES, is_fenced, quote, rotate
from penstock.embedded.ports import RANGE, Ports, choose_ports
from penstock.embedded.server_properties import render, server_properties

NO_JAVA = Java(Path("/nowhere/java"), Path("/nowhere"), 17, "17")
NO_JARS = Jars(Path("/nowhere"), [])


def listener(port: int = 0) -> socket.socket:
    held = socket.socket()
    held.bind(("127.0.0.1", port))
    held.listen()
    return held


def test_all_addresses_are_loopback() -> None:
    properties = server_properties(Path("/d/log"), Ports(1, 2), {})
    assert properties["listeners"] == "PLAINTEXT://127.0.0.1:1,CONTROLLER://127.0.0.1:2"
    assert properties["advertised.listeners"] == "PLAINTEXT://127.0.0.1:1"
    assert properties["controller.quorum.voters"] == "1@127.0.0.1:2"
    assert properties["message.max.bytes"] == "67108864"
    assert properties["offsets.topic.num.partitions"] == "4"


def test_extra_settings_win() -> None:
    properties = server_properties(Path("/d"), Ports(1, 2), {"num.partitions": "3", "a": "b"})
    assert (properties["num.partitions"], properties["a"]) == ("3", "b")


def test_rendering_escapes_what_java_would_misread() -> None:
    assert render({"log.dirs": "/a b/ä\\😀"}) == "log.dirs=/a\\ b/\\u00e4\\\\\\ud83d\\ude00\n"


def test_heap_from_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PENSTOCK_BROKER_HEAP", raising=False)
    assert "-Xmx512m" in server_command(NO_JAVA, NO_JARS, Path("p"))
    monkeypatch.setenv("PENSTOCK_BROKER_HEAP", "2g")
    command = server_command(NO_JAVA, NO_JARS, Path("p"))
    assert "-Xmx2g" in command
    assert "-Xmx512m" not in command


def test_chosen_ports_are_remembered(tmp_path: Path) -> None:
    first = choose_ports(tmp_path, None)
    assert first.broker != first.controller
    assert first.broker in RANGE
    assert choose_ports(tmp_path, None) == first


def test_remembered_port_that_is_taken_is_replaced(tmp_path: Path) -> None:
    first = choose_ports(tmp_path, None)
    with listener(first.broker):
        second = choose_ports(tmp_path, None)
    assert second.broker != first.broker
    assert second.controller == first.controller
    assert choose_ports(tmp_path, None) == second


def test_unreadable_memory_is_forgotten(tmp_path: Path) -> None:
    (tmp_path / "ports.json").write_text('{"broker":')
    ports = choose_ports(tmp_path, None)
    assert choose_ports(tmp_path, None) == ports


def test_given_port_that_is_taken_is_refused_and_the_folder_freed(tmp_path: Path) -> None:
    with listener() as held:
        port = held.getsockname()[1]
        broker = EmbeddedBroker(tmp_path, NO_JAVA, NO_JARS, port=port)
        for _ in range(2):  # Were the folder still locked, the second would say so.
            with pytest.raises(PortInUse, match=f"Port {port} on 127.0.0.1 is taken"):
                broker.start()
    assert not broker.alive()


def test_large_log_is_rotated_at_start(tmp_path: Path) -> None:
    log = tmp_path / "kafka.log"
    assert rotate(log) == 0
    log.write_text("small")
    assert rotate(log) == 5
    with log.open("r+b") as file:
        file.truncate(ROTATE_BYTES + 1)
    assert rotate(log) == 0
    assert not log.exists()
    assert (tmp_path / "kafka.log.1").stat().st_size == ROTATE_BYTES + 1


def test_quoted_log_is_of_this_start_without_stack_frames(tmp_path: Path) -> None:
    log = tmp_path / "kafka.log"
    log.write_text("ERROR of before\n")
    start = rotate(log)
    with log.open("a") as file:
        file.write(
            "[main] WARN calm\n[main] ERROR broken\njava.lang.Exception: x\n\tat a.b(C.java)\n"
        )
    assert quote(log, start) == "[main] ERROR broken\njava.lang.Exception: x"


ACTIVE = "Performing controller activation.\n"
REGISTERED = (
    "Replayed initial RegisterBrokerRecord for broker 1: RegisterBrokerRecord(brokerId=1, {})\n"
)
CHANGED = (
    "Replayed BrokerRegistrationChangeRecord: BrokerRegistrationChangeRecord(brokerId=1, {})\n"
)


@pytest.mark.parametrize(
    ("lines", "fenced"),
    [
        ([REGISTERED.format("fenced=true")], False),  # it may still read
        ([REGISTERED.format("fenced=true"), ACTIVE], True),
        ([REGISTERED.format("fenced=true"), CHANGED.format("fenced=0"), ACTIVE], False),
        ([CHANGED.format("fenced=0"), ACTIVE, CHANGED.format("fenced=1")], True),
        ([CHANGED.format("fenced=0"), ACTIVE, CHANGED.format("fenced=-1")], False),
        ([ACTIVE], True),  # it knows of no broker
    ],
)
def test_a_controller_says_when_it_has_given_up_the_broker(
    tmp_path: Path, lines: list[str], fenced: bool
) -> None:
    log = tmp_path / "kafka.log"
    earlier = ACTIVE + CHANGED.format("fenced=1")
    log.write_text(earlier + "".join(lines))
    assert is_fenced(log, len(earlier)) is fenced
