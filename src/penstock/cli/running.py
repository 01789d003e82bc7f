"""Notes about running workers: `up` leaves one, other commands find their worker by it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

import psutil

from penstock.cli.paths import state_dir


@dataclass(frozen=True)
class Running:
    """A worker that `penstock up` runs on this machine."""

    url: str
    bootstrap_servers: str
    pid: int
    data_dir: str
    started: float
    """When its process began: a later process of the same pid is another one."""
    token: str = field(default="", repr=False)
    """Lets commands of the same user in; empty where the worker has no users."""
    certificate: str = ""
    """The certificate that it shows; empty without TLS."""

    @staticmethod
    def here(
        url: str, bootstrap_servers: str, data_dir: Path, token: str = "", certificate: str = ""
    ) -> Running:
        """A note about this very process."""
        me = psutil.Process()
        return Running(
            url, bootstrap_servers, me.pid, str(data_dir), me.create_time(), token, certificate
        )

    @property
    def note(self) -> Path:
        """The file of this note."""
        return state_dir() / f"up-{self.pid}.json"

    def write(self) -> None:
        """Leave the note, at once as a whole, for this user's eyes only."""
        self.note.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        draft = self.note.with_suffix(f".{os.getpid()}.tmp")
        draft.unlink(missing_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        with open(os.open(draft, flags, 0o600), "w", encoding="utf-8") as file:  # noqa: PTH123 (of a descriptor)
            json.dump(asdict(self), file)
        draft.replace(self.note)

    def remove(self) -> None:
        """Take the note away; it may be gone already."""
        self.note.unlink(missing_ok=True)

    def alive(self) -> bool:
        """Whether the process that left the note still runs."""
        try:
            return abs(psutil.Process(self.pid).create_time() - self.started) < 1
        except psutil.Error:
            return False


def running() -> list[Running]:
    """All workers that run, the newest first. Notes of dead ones are ignored."""
    alive = [worker for worker in _notes() if worker.alive()]
    return sorted(alive, key=lambda worker: worker.started, reverse=True)


def _notes() -> Iterator[Running]:
    for file in state_dir().glob("up-*.json"):
        try:
            yield Running(**json.loads(file.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            continue
