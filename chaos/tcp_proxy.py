"""A link between clients and a server that can be slow, far away, cut, stalled or down: real TCP.

Tests and `make chaos` put it between workers and brokers.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import Coroutine, Iterator
from types import TracebackType
from typing import Any, TypeVar

HOST = "127.0.0.1"
CHUNK = 16 * 1024
ON_THE_WAY = 64
"""How many chunks one direction of a connection holds; then its sender has to wait."""

T = TypeVar("T")


class TcpProxy:
    """Passes connections to ``127.0.0.1:port`` on to ``target``, by a thread of its own.

    ``delay`` is in seconds, each way; ``rate`` in bytes per second, each way, for all connections
    together (None: as fast as it goes). Both may be changed at any time and count from the next
    bytes on. Every method may be called from any thread. As a context manager it starts and closes
    itself.
    """

    def __init__(
        self,
        target: tuple[str, int],
        port: int = 0,
        *,
        delay: float = 0.0,
        rate: float | None = None,
    ) -> None:
        self.delay = delay
        self.rate = rate
        self.port = port
        """Where clients connect; if 0 was given, known from the start on."""
        self.cuts = 0
        """How many connections were cut."""
        self._target = target
        self._down = False
        self._flows = {"up": _Pace(), "down": _Pace()}
        self._passing = asyncio.Event()
        self._connections: set[asyncio.StreamWriter] = set()
        self._server: asyncio.Server | None = None
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="tcp-proxy", daemon=True)

    @property
    def address(self) -> str:
        """Where clients connect, as host and port."""
        return f"{HOST}:{self.port}"

    def start(self) -> None:
        """Begin to listen."""
        self._passing.set()
        self._thread.start()
        self._do(self._listen())

    def close(self) -> None:
        """Cut everything and listen no more."""
        if not self._loop.is_closed():
            self._do(self._end())
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(10)
            self._loop.close()

    def cut(self) -> int:
        """Reset all connections, now; how many there were. New ones are let in."""
        return self._do(self._cut())

    @contextlib.contextmanager
    def down(self) -> Iterator[None]:
        """Reset all connections, and new ones as they come, for the length of a ``with`` block."""
        # It goes on listening: asyncio loses connections that come while it stops.
        self._down = True
        self.cut()
        try:
            yield
        finally:
            self._down = False

    @contextlib.contextmanager
    def stalled(self) -> Iterator[None]:
        """Let connections stand, but let no byte pass, for the length of a ``with`` block."""
        self._loop.call_soon_threadsafe(self._passing.clear)
        try:
            yield
        finally:
            self._loop.call_soon_threadsafe(self._passing.set)

    @contextlib.contextmanager
    def cutting(self, every: float) -> Iterator[None]:
        """Cut all connections again and again, ``every`` so many seconds, in a ``with`` block."""
        over = threading.Event()

        def run() -> None:
            while not over.wait(every):
                self.cut()

        thread = threading.Thread(target=run, name="tcp-proxy-cutter", daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join(10)

    def __enter__(self) -> TcpProxy:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # What runs on the proxy's own thread.

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()

    def _do(self, what: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(what, self._loop).result(10)

    async def _listen(self) -> None:
        self._server = await asyncio.start_server(
            self._serve, HOST, self.port, limit=CHUNK, reuse_address=True
        )
        self.port = self._server.sockets[0].getsockname()[1]

    async def _end(self) -> None:
        if self._server is not None:
            self._server.close()
        await self._cut()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    async def _cut(self) -> int:
        found, self._connections = self._connections, set()
        for writer in found:
            writer.transport.abort()
        self.cuts += len(found) // 2
        return len(found) // 2

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # Cancelled when the proxy is closed, which asyncio would make a noise about.
        with contextlib.suppress(asyncio.CancelledError):
            await self._join(reader, writer)

    async def _join(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            to = await asyncio.open_connection(*self._target, limit=CHUNK)
        except OSError:
            writer.transport.abort()
            return
        both = {writer, to[1]}
        self._connections |= both
        if self._down:
            await self._cut()
        try:
            async with asyncio.TaskGroup() as ways:
                ways.create_task(self._pass(reader, to[1], "up"))
                ways.create_task(self._pass(to[0], writer, "down"))
        except* OSError:
            pass  # one side is gone: so is the other
        finally:
            self._connections -= both
            for each in both:
                each.transport.abort()

    async def _pass(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, way: str
    ) -> None:
        queue: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue(ON_THE_WAY)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._deliver(queue, writer, self._flows[way]))
            while data := await reader.read(CHUNK):
                await queue.put((time.monotonic() + self.delay, data))
            await queue.put((0.0, b""))

    async def _deliver(
        self, queue: asyncio.Queue[tuple[float, bytes]], writer: asyncio.StreamWriter, flow: _Pace
    ) -> None:
        while (item := await queue.get())[1]:
            due, data = item
            await asyncio.sleep(max(due - time.monotonic(), flow.wait(len(data), self.rate)))
            await self._passing.wait()
            writer.write(data)
            await writer.drain()
        writer.write_eof()


class _Pace:
    """When the next bytes of one direction may pass, all connections taken together."""

    def __init__(self) -> None:
        self._free_at = 0.0

    def wait(self, size: int, rate: float | None) -> float:
        """Seconds until ``size`` bytes are through, at ``rate`` bytes a second."""
        now = time.monotonic()
        if rate is None:
            return 0.0
        self._free_at = max(now, self._free_at) + size / rate
        return self._free_at - now
