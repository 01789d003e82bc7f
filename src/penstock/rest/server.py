"""The HTTP server: uvicorn in a thread of this process."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import socket
import threading
import time

import uvicorn
from starlette.types import ASGIApp

from penstock.rest.access.tls import tls_options
from penstock.runtime.config.rest_config import Tls
from penstock.sdk.errors import PenstockError

START_SECONDS = 10.0
GRACE_SECONDS = 1
TICK_SECONDS = 1.0
EVERY_TICK = 0
"""The count at which uvicorn renews the date that answers carry: here at each tick."""


class RestServerError(PenstockError):
    """The server cannot start; the text says what to do."""


def listen(host: str, port: int) -> socket.socket:
    """Open the socket to serve on, 0 for any free port; RestServerError if that fails."""
    if not 0 <= port <= 65535:
        raise RestServerError(f"Port {port} does not exist: choose one from 0 to 65535.")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family, backlog=512)
    except OSError as error:
        raise RestServerError(_cannot_listen(host, port, error)) from error
    # Inherited by what it accepts. An answer is written in two parts, headers and body, and else
    # the second waits for the client to acknowledge the first, which takes its time: 40 ms.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def _cannot_listen(host: str, port: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return (
            f"Port {port} on {host} is taken by another program. Stop that program, or choose "
            f"another port with --port (0 takes any free one)."
        )
    if error.errno == errno.EACCES:
        return f"Port {port} needs more rights: choose one above 1023 with --port."
    return f"Cannot listen on {host}:{port}: {error.strerror or error}"


class _RestingServer(uvicorn.Server):
    """Wakes once a second while idle, where uvicorn would wake ten times."""

    _told_to_end: tuple[asyncio.AbstractEventLoop, asyncio.Event] | None = None

    async def main_loop(self) -> None:
        """Return once told to end."""
        told = asyncio.Event()
        self._told_to_end = asyncio.get_running_loop(), told
        while not await self.on_tick(EVERY_TICK):
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(told.wait(), TICK_SECONDS)

    def end(self) -> None:
        """Tell it to end, from any thread."""
        self.should_exit = True
        if self._told_to_end is not None:
            loop, told = self._told_to_end
            with contextlib.suppress(RuntimeError):  # it has ended
                loop.call_soon_threadsafe(told.set)


class RestServer:
    """Serves an application from a thread of its own.

    Call order: `start`, then `stop`, once each and from any thread. Signal handlers stay as they
    are. Give ``listener`` to serve on a socket that is open already, and ``tls`` to serve HTTPS;
    ConfigError if its files cannot be used.
    """

    def __init__(
        self,
        app: ASGIApp,
        host: str = "127.0.0.1",
        port: int = 8083,
        listener: socket.socket | None = None,
        tls: Tls | None = None,
    ) -> None:
        self._host, self._port = host, port
        self._scheme = "https" if tls else "http"
        self._listener = listener
        config = uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            lifespan="off",
            server_header=False,
            # Otherwise a client on this machine could pretend to be another one.
            proxy_headers=False,
            ws="none",
            timeout_graceful_shutdown=GRACE_SECONDS,
            **tls_options(tls),
        )
        self._server = _RestingServer(config)
        self._thread = threading.Thread(target=self._serve, name="penstock-rest", daemon=True)

    @property
    def port(self) -> int:
        """The port it really listens on, also when 0 was asked for."""
        if self._listener is not None and self._listener.fileno() != -1:
            self._port = int(self._listener.getsockname()[1])
        return self._port

    @property
    def url(self) -> str:
        """Where clients on this machine find it."""
        here = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self._host, self._host)  # noqa: S104 (no bind)
        host = f"[{here}]" if ":" in here else here
        return f"{self._scheme}://{host}:{self.port}"

    def start(self) -> None:
        """Return once requests are answered; RestServerError if the port is not available."""
        if self._listener is None:
            self._listener = listen(self._host, self._port)
        self._thread.start()
        deadline = time.monotonic() + START_SECONDS
        while not self._server.started:
            if not self._thread.is_alive() or time.monotonic() > deadline:
                raise RestServerError(f"The REST server did not start on {self.url}; see the log.")
            time.sleep(0.01)

    def stop(self) -> None:
        """End within 2 s, open connections included. Safe to call again, or without a start."""
        self._server.end()
        if self._thread.is_alive():
            self._thread.join(GRACE_SECONDS + 0.5)
            self._server.force_exit = True
            self._thread.join(0.4)
        if self._listener is not None:
            self._listener.close()

    def _serve(self) -> None:
        assert self._listener is not None  # noqa: S101 (narrows the type)
        self._server.run(sockets=[self._listener])
