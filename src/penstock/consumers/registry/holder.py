"""The process that reads under a name, as others know it."""

from __future__ import annotations

import os
import socket
import uuid
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import psutil


@cache
def process_space() -> str:
    """One boot of one machine, and one namespace of processes in it, as each container has."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot} {Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return socket.gethostname()


@dataclass(frozen=True)
class Holder:
    """Who reads under a name."""

    token: str
    """No two are the same."""
    host: str
    pid: int
    released: bool = False
    """Whether it has said that it is done."""
    member: str = ""
    """As which member the group knows it."""
    space: str = ""
    """Where the number of its process means that process: see ``process_space``."""

    @staticmethod
    def here() -> Holder:
        """This process, once more."""
        host = socket.gethostname()
        return Holder(uuid.uuid4().hex, host, os.getpid(), space=process_space())

    @property
    def ended(self) -> bool:
        """Whether it is known to have ended: of other machines and containers it never is."""
        return self.space == process_space() and not psutil.pid_exists(self.pid)

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}"
