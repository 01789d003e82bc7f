"""Both sides of a carrier's connection prove themselves."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable

import pytest

from penstock.engine.carriers.frames import receive, send
from penstock.engine.carriers.handshake import Dismissed, Identity, NotAdmitted, admit, introduce

US = Identity("c1", "process-1")


def _meet(
    carrier: Callable[[socket.socket], None],
    secrets: dict[str, str],
    refusal: Callable[[Identity], str] = lambda _identity: "",
) -> tuple[BaseException | None, Identity | BaseException]:
    ours, theirs = socket.socketpair()
    raised: list[BaseException] = []

    def run() -> None:
        try:
            carrier(theirs)
        except OSError as error:
            raised.append(error)
        finally:
            theirs.close()

    thread = threading.Thread(target=run)
    thread.start()
    outcome: Identity | BaseException
    try:
        outcome = admit(ours, secrets.get, refusal)
    except OSError as error:
        outcome = error
    ours.close()
    thread.join(10)
    return (raised[0] if raised else None), outcome


def test_one_of_ours_is_admitted() -> None:
    assert _meet(lambda s: introduce(s, US, "secret"), {"c1": "secret"}) == (None, US)


@pytest.mark.parametrize("secrets", [{}, {"c1": "another"}])
def test_a_wrong_or_old_secret_is_not(secrets: dict[str, str]) -> None:
    raised, outcome = _meet(lambda s: introduce(s, US, "secret"), secrets)
    assert isinstance(outcome, NotAdmitted)
    assert raised is not None


def test_a_second_process_is_dismissed() -> None:
    raised, outcome = _meet(
        lambda s: introduce(s, US, "secret"), {"c1": "secret"}, lambda _identity: "another runs"
    )
    assert isinstance(raised, Dismissed)
    assert isinstance(outcome, NotAdmitted)


def test_a_worker_that_does_not_know_the_secret_is_not_believed() -> None:
    ours, theirs = socket.socketpair()

    def impostor() -> None:
        send(theirs, {"nonce": "n"})
        hello = receive(theirs)
        send(theirs, {"proof": hello["proof"]})

    thread = threading.Thread(target=impostor)
    thread.start()
    with pytest.raises(NotAdmitted):
        introduce(ours, US, "secret")
    thread.join(10)


@pytest.mark.parametrize(
    "sent",
    [b"", b"GET / HTTP/1.1\r\n\r\n", b"\x00\x00\x00\x02[]", b"\x00\x00\x00\x02{}", b"\xff" * 64],
)
def test_whatever_a_stranger_sends_is_refused(sent: bytes) -> None:
    def stranger(connection: socket.socket) -> None:
        connection.sendall(sent)
        connection.shutdown(socket.SHUT_WR)

    _, outcome = _meet(stranger, {"c1": "secret"})
    assert isinstance(outcome, OSError)
