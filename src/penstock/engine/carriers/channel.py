"""One connection between a worker and a carrier, over which each sends its whole state.

A state is composed only when it can be sent: callers just signal that there is news and continue,
and news that come while a state is being sent go into the next one. So no caller waits for the
other side to read, and a state that is lost with its connection does no harm.
"""

from __future__ import annotations

import contextlib
import logging
import socket
import threading
from collections.abc import Callable

from penstock.engine.carriers.frames import Message, Stream, receive, send

log = logging.getLogger(__name__)


class Channel:
    """Sends ``compose()`` whenever there is news and every ``interval`` seconds; calls ``hear``.

    ``run`` reads, on the caller's thread, until the connection ends; another thread sends.
    ``compose`` and ``hear`` are called by these two, each by one of them. Everything else may be
    called from any thread.
    """

    def __init__(
        self,
        connection: socket.socket,
        stream: Stream,
        *,
        compose: Callable[[], Message],
        hear: Callable[[Message], None],
        interval: float,
    ) -> None:
        self._connection = connection
        self._stream = stream
        self._compose = compose
        self._hear = hear
        self._interval = interval
        self._news = threading.Event()
        self._closed = threading.Event()

    def run(self) -> None:
        """Send and receive until either side closes the connection."""
        sender = threading.Thread(target=self._send_states, name="states", daemon=True)
        sender.start()
        try:
            while not self._closed.is_set():
                self._hear(receive(self._stream))
        except OSError as error:
            log.debug("a connection ended: %s", error)
        finally:
            self.close()
            sender.join(timeout=5)

    def tell(self) -> None:
        """Signal news: a state is sent as soon as possible. Never blocks."""
        self._news.set()

    def close(self) -> None:
        """End the connection; ``run`` returns."""
        self._closed.set()
        self._news.set()
        with contextlib.suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)
        self._connection.close()

    def _send_states(self) -> None:
        try:
            while not self._closed.is_set():
                self._news.clear()
                send(self._stream, self._compose())
                self._news.wait(self._interval)
        except OSError as error:
            log.debug("a connection ended: %s", error)
        finally:
            self.close()
