"""A broker whose clients reach it over a link that a test may slow down, cut or take away."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType

from chaos.tcp_proxy import TcpProxy
from free_ports import free_port
from penstock.embedded import EmbeddedBroker, Jars, Java
from topics import Topics


class DistantBroker:
    """``broker`` with a second listener behind ``link``, which is what it tells its clients there.

    Whoever is tested knows only of ``address``, and reaches the broker over the link alone;
    ``topics`` sees the same topics directly. As a context manager it starts and stops both.
    """

    def __init__(self, folder: Path, java: Java, jars: Jars) -> None:
        near, far, controller = free_port(), free_port(), free_port()
        self.link = TcpProxy(("127.0.0.1", far), free_port())
        self.address = self.link.address
        extra = {
            "listeners": (
                f"PLAINTEXT://127.0.0.1:{near},DISTANT://127.0.0.1:{far},"
                f"CONTROLLER://127.0.0.1:{controller}"
            ),
            "advertised.listeners": f"PLAINTEXT://127.0.0.1:{near},DISTANT://{self.address}",
            "listener.security.protocol.map": (
                "PLAINTEXT:PLAINTEXT,DISTANT:PLAINTEXT,CONTROLLER:PLAINTEXT"
            ),
            "controller.quorum.voters": f"1@127.0.0.1:{controller}",
        }
        self.broker = EmbeddedBroker(folder, java, jars, port=near, extra=extra)
        self.topics = Topics(f"127.0.0.1:{near}")

    def __enter__(self) -> DistantBroker:
        self.broker.start()
        self.link.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.link.close()
        self.broker.stop()
