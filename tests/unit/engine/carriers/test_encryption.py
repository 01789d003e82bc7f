"""Connections beyond one machine: encrypted, both ways at once, with the pinned certificate."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from penstock.engine.carriers.encryption import Certificate, encrypt_for
from penstock.engine.carriers.frames import Stream, receive, send


@pytest.fixture(scope="module")
def certificate() -> Certificate:
    return Certificate()


class Tapped:
    """A socket whose sent bytes are kept."""

    def __init__(self, connection: socket.socket) -> None:
        self.sent = bytearray()
        self._connection = connection

    def sendall(self, data: bytes) -> None:
        self.sent += data
        self._connection.sendall(data)

    def recv(self, most: int) -> bytes:
        return self._connection.recv(most)


@pytest.fixture
def sockets() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair()
    for each in (ours, theirs):
        each.settimeout(20)
    yield ours, theirs
    ours.close()
    theirs.close()


def both(
    certificate: Certificate, pem: str, ours: socket.socket, theirs: socket.socket
) -> tuple[Stream, Stream]:
    with ThreadPoolExecutor(1) as pool:
        serving = pool.submit(certificate.encrypt, ours)
        try:
            return encrypt_for(pem)(theirs), serving.result(20)
        except OSError:
            theirs.close()
            with pytest.raises(OSError, match=r".+"):
                serving.result(20)
            raise


def test_nothing_travels_in_clear(
    certificate: Certificate, sockets: tuple[socket.socket, socket.socket]
) -> None:
    tapped = Tapped(sockets[1])
    carrier, worker = both(certificate, certificate.pem, sockets[0], tapped)  # type: ignore[arg-type]  # it only listens
    send(carrier, {"password": "hunter2"})
    assert receive(worker) == {"password": "hunter2"}
    assert b"hunter2" not in tapped.sent


def test_another_certificate_is_not_trusted(
    certificate: Certificate, sockets: tuple[socket.socket, socket.socket]
) -> None:
    with pytest.raises(OSError, match="certificate verify failed"):
        both(certificate, Certificate().pem, *sockets)


def test_much_goes_both_ways_at_once(
    certificate: Certificate, sockets: tuple[socket.socket, socket.socket]
) -> None:
    ends = both(certificate, certificate.pem, *sockets)
    text = "x" * 3_000_000
    got: list[int] = []

    def talk(stream: Stream) -> None:
        for number in range(5):
            send(stream, {"number": number, "text": text})

    def listen(stream: Stream) -> None:
        got.extend(len(receive(stream)["text"]) for _ in range(5))

    threads = [threading.Thread(target=act, args=(end,)) for end in ends for act in (talk, listen)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert got == [len(text)] * 10
