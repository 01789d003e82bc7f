"""The link that tests put between clients and a server."""

from __future__ import annotations

import socket
import socketserver
import threading
import time
from collections.abc import Iterator

import pytest

from chaos.tcp_proxy import TcpProxy
from waiting import eventually

PATIENCE = 20.0


class _Echo(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        try:
            while data := self.request.recv(65536):
                self.request.sendall(data)
        except OSError:
            pass  # cut


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True


@pytest.fixture
def link() -> Iterator[TcpProxy]:
    """A link to a server that sends back what it gets."""
    with _Server(("127.0.0.1", 0), _Echo) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        with TcpProxy(("127.0.0.1", server.server_address[1])) as proxy:
            yield proxy
        server.shutdown()


def connect(link: TcpProxy) -> socket.socket:
    return socket.create_connection(("127.0.0.1", link.port), timeout=PATIENCE)


def echo(client: socket.socket, data: bytes) -> bytes:
    threading.Thread(target=client.sendall, args=(data,), daemon=True).start()
    back = b""
    while len(back) < len(data):
        back += client.recv(65536)
    return back


def test_what_goes_in_comes_out(link: TcpProxy) -> None:
    data = bytes(range(256)) * 20_000
    with connect(link) as client:
        assert echo(client, data) == data


def test_a_delay_counts_each_way(link: TcpProxy) -> None:
    link.delay = 0.2
    with connect(link) as client:
        began = time.monotonic()
        echo(client, b"ping")
        assert time.monotonic() - began >= 0.4


def test_connections_share_the_rate(link: TcpProxy) -> None:
    link.rate = 100_000
    with connect(link) as one, connect(link) as other:
        began = time.monotonic()
        both = [threading.Thread(target=echo, args=(c, b"x" * 30_000)) for c in (one, other)]
        for each in both:
            each.start()
        for each in both:
            each.join(PATIENCE)
        assert time.monotonic() - began >= 0.6


def test_a_cut_resets_what_is_open_and_lets_others_in(link: TcpProxy) -> None:
    with connect(link) as client:
        echo(client, b"ping")
        assert link.cut() == 1
        with pytest.raises(ConnectionError):
            _ = client.recv(1) or _gone()
    with connect(link) as client:
        assert echo(client, b"ping") == b"ping"


def test_it_cuts_again_and_again(link: TcpProxy) -> None:
    with link.cutting(every=0.01), connect(link) as first:
        eventually(lambda: _is_cut(first), what="the first cut")
        with connect(link) as second:
            eventually(lambda: _is_cut(second), what="another cut")


def test_down_it_resets_what_is_open_and_what_comes(link: TcpProxy) -> None:
    with connect(link) as before:
        echo(before, b"ping")
        with link.down():
            for client in (before, connect(link)):
                with client:
                    eventually(lambda: _is_cut(client), what="a reset")  # noqa: B023 (called at once)
    with connect(link) as client:
        assert echo(client, b"ping") == b"ping"


def test_stalled_nothing_passes_and_nothing_is_lost(link: TcpProxy) -> None:
    with connect(link) as client:
        with link.stalled():
            client.sendall(b"ping")
            client.settimeout(0.3)
            with pytest.raises(TimeoutError):
                client.recv(10)
        client.settimeout(PATIENCE)
        assert client.recv(10) == b"ping"


def _gone() -> bytes:
    raise ConnectionResetError("closed")


def _is_cut(client: socket.socket) -> bool:
    client.settimeout(0.01)
    try:
        return client.recv(1) == b""
    except TimeoutError:
        return False
    except OSError:
        return True
