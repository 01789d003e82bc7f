"""Types README's commands, in order, as a newcomer would.

Every block of commands is run, line by line, in one shell. `penstock up` runs in the background, as
in a terminal of its own, until the end. A comment `# prints: one two` says what a command prints;
spaces and line ends count the same. The walk ends with 1 at the first command that fails or prints
something else.

`make walk` does it in a fresh clone. With a folder as the argument, which has a .venv, the lines
that begin with `make` are left out, and the rest is run there.
"""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"^```\n(.*?)^```", re.DOTALL | re.MULTILINE)
PRINTS = re.compile(r"# prints: (.*)$")
HERE = re.compile(r"<<(\w+)(?:\s+#.*)?$")
PORT = "8083"
LONG = ("make demo", "make test")
"""Shown first in README, and not a part of the walk: CI runs them anyway."""
START_SECONDS, COMMAND_SECONDS = 300, 1200


@dataclass(frozen=True)
class Command:
    """What is typed, perhaps in several lines, and what it prints."""

    text: str
    prints: str | None = None

    @property
    def starts_worker(self) -> bool:
        """Whether it runs until it is stopped."""
        return bool(re.match(r"\S*penstock up\b", self.text))


def commands_of(text: str) -> Iterator[Command]:
    """The commands in a document, in order."""
    for block in BLOCK.findall(text):
        yield from _of_block(block.splitlines())


def _of_block(lines: list[str]) -> Iterator[Command]:
    while lines:
        taken = [lines.pop(0)]
        while lines and not _complete(taken):
            taken.append(lines.pop(0))
        found = PRINTS.search(taken[0])
        yield Command("\n".join(taken), found[1] if found else None)


def _complete(lines: list[str]) -> bool:
    here = HERE.search(lines[0])
    if here:
        return lines[-1] == here[1]
    return not lines[-1].endswith("\\") and "\n".join(lines).count("'") % 2 == 0


class Walk:
    """One shell, in one folder, with a home of its own."""

    def __init__(self, folder: Path, home: Path) -> None:
        self._folder = folder
        self._port = _free_port()
        clean = {k: v for k, v in os.environ.items() if not k.startswith("PENSTOCK_")}
        self._environment = {
            **clean,
            "HOME": str(home),
            "PENSTOCK_CACHE_DIR": os.environ.get("PENSTOCK_CACHE_DIR", _cache()),
            "PENSTOCK_DATA_DIR": str(home / "data"),
            "PENSTOCK_STATE_DIR": str(home / "state"),
        }
        self._worker: subprocess.Popen[str] | None = None
        self._exported = ""

    def run(self, command: Command) -> None:
        """Type it; SystemExit if it does not do what README says."""
        print(f"$ {command.text}", flush=True)
        if command.starts_worker:
            self._start(command.text)
            return
        if command.text.startswith("export "):
            self._exported += command.text + "\n"
        done = self._shell(self._exported + command.text.replace(PORT, str(self._port)))
        print(done.stdout + done.stderr, flush=True)
        said = " ".join(done.stdout.split())
        if done.returncode != 0:
            sys.exit(f"README's command failed with {done.returncode}: {command.text}")
        if command.prints is not None and command.prints not in said:
            sys.exit(f"README says that it prints {command.prints!r}, not {said!r}")

    def close(self) -> None:
        """End the worker."""
        if self._worker is not None:
            self._worker.terminate()
            self._worker.wait(60)

    def _shell(self, text: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-c", text],  # noqa: S607 (as README is typed)
            cwd=self._folder,
            env=self._environment,
            capture_output=True,
            text=True,
            timeout=COMMAND_SECONDS,
            check=False,
        )

    def _start(self, text: str) -> None:
        program = text.split(maxsplit=1)[0]
        log = (self._folder / "up.out").open("w+")
        self._worker = subprocess.Popen(
            [str(self._folder / program), "up", "--port", str(self._port)],
            cwd=self._folder,
            env=self._environment,
            stdout=log,
            stderr=subprocess.STDOUT,
            text=True,
        )
        deadline = time.monotonic() + START_SECONDS
        while "Penstock is running" not in Path(log.name).read_text():
            if self._worker.poll() is not None or time.monotonic() > deadline:
                sys.exit(f"`penstock up` did not start: {Path(log.name).read_text()}")
            time.sleep(0.2)


def walk(folder: Path, *, with_make: bool) -> int:
    """Type all of README in ``folder``; how many commands that were."""
    wanted = [c for c in commands_of((ROOT / "README.md").read_text()) if _wanted(c, with_make)]
    with tempfile.TemporaryDirectory() as home:
        walking = Walk(folder, Path(home))
        try:
            for command in wanted:
                walking.run(command)
        finally:
            walking.close()
    return len(wanted)


def _wanted(command: Command, with_make: bool) -> bool:
    if command.text.startswith("make "):
        return with_make and not command.text.startswith(LONG)
    return True


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _cache() -> str:
    """Jars that were fetched once need not be fetched again."""
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return str(base / "penstock")


def main() -> None:
    """Walk in the given folder, else in a fresh clone."""
    if len(sys.argv) > 1:
        count = walk(Path(sys.argv[1]).resolve(), with_make=False)
    else:
        with tempfile.TemporaryDirectory() as folder:
            clone = Path(folder) / "penstock"
            subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)  # noqa: S607 (git, by name)
            count = walk(clone, with_make=True)
    print(f"README: {count} commands, all as it says.")


if __name__ == "__main__":
    main()
