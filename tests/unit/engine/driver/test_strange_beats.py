"""Lines that no lease of ours sends: the connection is closed, and nothing is printed."""

from __future__ import annotations

import socket

import pytest

from penstock.engine.driver.watches import HeartbeatServer


@pytest.mark.parametrize(
    "line",
    [
        '{"token": "Schlüssel", "lease": "a"}'.encode(),
        b'{"token": "\\ud800", "lease": "a"}',
        b'{"token": ["\\u00fc"], "lease": "a"}',
        b"[" * 100_000,
        b"\xff",
    ],
)
def test_a_strange_line_is_refused_without_a_traceback(
    line: bytes, capfd: pytest.CaptureFixture[str]
) -> None:
    server = HeartbeatServer()
    address = (server.address.host, server.address.port)
    with socket.create_connection(address, timeout=20) as connection:
        connection.sendall(line + b"\n")
        assert connection.recv(100) == b""
    server.close()
    assert capfd.readouterr().err == ""
