"""Where carriers connect to their worker: one listening socket, a thread per connection."""

from __future__ import annotations

import contextlib
import logging
import socket
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from penstock.engine.carriers.channel import Channel
from penstock.engine.carriers.frames import Message, Stream, tuned
from penstock.engine.carriers.handshake import Identity, NotAdmitted, admit

log = logging.getLogger(__name__)

HANDSHAKE_SECONDS = 5.0
STATE_SECONDS = 1.0
MOST_STRANGERS = 64
"""The most connections that are not authenticated yet; further ones are closed."""
MOST_FORMER = 100
"""Of so many former carriers, processes that come back are told that they must end."""

Encrypt = Callable[[socket.socket], Stream]


@dataclass(frozen=True)
class Address:
    """The address at which a carrier reaches its worker."""

    host: str
    port: int


class Guest(Protocol):
    """Who may connect: a carrier, or the stages of a frame turn. Called on connections' threads."""

    carrier: str
    secret: str

    def refusal(self, identity: Identity) -> str:
        """Why a process that knows the secret is sent away; "" if it is not."""

    def attach(self, channel: Channel) -> None:
        """A process is connected."""

    def detach(self, channel: Channel) -> None:
        """It no longer is."""

    def state(self) -> Message:
        """What is sent to it."""

    def hear(self, state: Message) -> None:
        """What it tells."""

    def close(self) -> None:
        """End the connection, and admit no other process."""


class Hub:
    """Listens for the carriers of one worker. Thread-safe."""

    def __init__(
        self, host: str, advertised: str | None = None, encrypt: Encrypt | None = None
    ) -> None:
        self._links: dict[str, Guest] = {}
        self._former: deque[str] = deque()
        self._encrypt = encrypt
        self._strangers = threading.Semaphore(MOST_STRANGERS)
        self._listener = socket.create_server((host, 0), backlog=128)
        self.address = Address(advertised or host, self._listener.getsockname()[1])
        self._closed = False
        threading.Thread(target=self._accept, name="carriers", daemon=True).start()

    def expect(self, link: Guest) -> None:
        """Admit the process that authenticates as this carrier."""
        self._links[link.carrier] = link

    def forget(self, link: Guest) -> None:
        """Stop admitting it: its process is told to end when it connects again."""
        link.close()
        self._former.append(link.carrier)
        while len(self._former) > MOST_FORMER:
            self._links.pop(self._former.popleft(), None)

    def strike(self, guest: Guest) -> None:
        """Forget it at once: its processes are strangers from now on."""
        self._links.pop(guest.carrier, None)

    def close(self) -> None:
        """Stop listening and close all connections."""
        self._closed = True
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for link in list(self._links.values()):
            self.forget(link)

    def _accept(self) -> None:
        while not self._closed:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                continue  # closed, or the peer was gone before it was accepted
            if self._strangers.acquire(blocking=False):
                threading.Thread(
                    target=self._serve, args=(connection,), name="carrier", daemon=True
                ).start()
            else:
                connection.close()

    def _serve(self, connection: socket.socket) -> None:
        with contextlib.closing(connection):
            met = self._meet(connection)
            if met is None:
                return
            link, stream = met
            channel = Channel(
                connection, stream, compose=link.state, hear=link.hear, interval=STATE_SECONDS
            )
            link.attach(channel)
            try:
                channel.run()
            finally:
                link.detach(channel)

    def _meet(self, connection: socket.socket) -> tuple[Guest, Stream] | None:
        """The carrier at the other end; None if it is none of ours."""
        try:
            connection.settimeout(HANDSHAKE_SECONDS)
            tuned(connection)
            stream = self._encrypt(connection) if self._encrypt else connection
            identity = admit(stream, self._secret_of, self._refusal)
            connection.settimeout(None)
            link = self._links.get(identity.carrier)
            return None if link is None else (link, stream)
        except NotAdmitted as error:
            log.warning("a connection to the port for carriers was refused: %s", error)
        except OSError as error:
            log.debug("a connection to the port for carriers ended early: %s", error)
        finally:
            self._strangers.release()
        return None

    def _secret_of(self, carrier: str) -> str | None:
        link = self._links.get(carrier)
        return link.secret if link else None

    def _refusal(self, identity: Identity) -> str:
        link = self._links.get(identity.carrier)
        return link.refusal(identity) if link else "it is no longer wanted"
