"""Messages on a connection: JSON objects, each prefixed with its length."""

from __future__ import annotations

import json
import socket
import struct
from typing import Any, Protocol

LENGTH = struct.Struct(">I")
LONGEST = 256 * 1024 * 1024
"""An order carries all positions of its connector, and some connectors have very many."""
FIRST_LONGEST = 4096
"""The longest message accepted before the other side is authenticated."""

Message = dict[str, Any]


class Stream(Protocol):
    """The operations common to plain and encrypted sockets."""

    def recv(self, most: int, /) -> bytes:
        """Some bytes; none at the end."""
        ...

    def sendall(self, data: bytes, /) -> None:
        """Send all of it."""
        ...


def send(stream: Stream, message: Message) -> None:
    """Send one message; blocks while the other side does not read. OSError if it is gone."""
    # In ASCII: an error's text may have lone surrogates, of a file's name say.
    body = json.dumps(message, separators=(",", ":")).encode()
    if len(body) > LONGEST:
        raise OSError(f"a message of {len(body)} bytes is too long to be sent")
    stream.sendall(LENGTH.pack(len(body)) + body)


def receive(stream: Stream, longest: int = LONGEST) -> Message:
    """The next message. OSError at the end of the stream and for invalid messages."""
    (length,) = LENGTH.unpack(_exactly(stream, LENGTH.size))
    if length > longest:
        raise OSError(f"a message of {length} bytes is longer than {longest}")
    try:
        message = json.loads(_exactly(stream, length))
    except (ValueError, RecursionError) as error:
        raise OSError("not a message") from error
    if not isinstance(message, dict):
        raise OSError("not a message")
    return message


def _exactly(stream: Stream, count: int) -> bytes:
    parts = bytearray()
    while len(parts) < count:
        part = stream.recv(min(count - len(parts), 1 << 20))
        if not part:
            raise ConnectionResetError("the other side closed the connection")
        parts += part
    return bytes(parts)


def tuned(connection: socket.socket) -> socket.socket:
    """Send messages without delay; notice a host that vanished."""
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    return connection
