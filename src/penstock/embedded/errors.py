"""What can go wrong with the embedded parts; every message says what to do next."""

# ruff: noqa: N818 - a name that says what is the case needs no Error at its end

from __future__ import annotations

from pathlib import Path
from typing import ClassVar


class EmbeddedError(Exception):
    """Base of all errors of the embedded parts; its text is meant for the user as it is."""

    next_step: ClassVar[str] = ""
    """A sentence that says what to do about it, where the text itself does not."""


class JavaNotFound(EmbeddedError):
    """No Java on this machine fits; the text names each one found and why it does not."""


class JarsUnavailable(EmbeddedError):
    """The jars are neither in the cache nor could they be downloaded."""


class PortInUse(EmbeddedError):
    """The port asked for is taken by another program."""

    def __init__(self, port: int) -> None:
        super().__init__(
            f"Port {port} on 127.0.0.1 is taken by another program. "
            f"Stop that program, give another port, or give none to have a free one chosen."
        )
        self.port = port


class DataFolderInUse(EmbeddedError):
    """Another broker holds the data folder; `pid` is its holder where known."""

    def __init__(self, folder: Path, pid: int | None) -> None:
        holder = f"process {pid}" if pid else "another process"
        super().__init__(
            f"The data folder {folder} is in use by {holder}. "
            f"Stop that process, or choose another data folder."
        )
        self.folder = folder
        self.pid = pid


class BrokerStartFailed(EmbeddedError):
    """The broker ended or stayed silent while starting; the text quotes its log."""

    next_step = "`penstock doctor` checks Java, memory, disk, ports and the data folder."


class PostgresNotFound(EmbeddedError):
    """PostgreSQL's programs are not installed; the text says how to get them."""


class PostgresStartFailed(EmbeddedError):
    """PostgreSQL ended or stayed silent while starting; the text quotes its log."""

    next_step = "Remove the cause that it names, then try again."
