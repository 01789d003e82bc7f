"""A worker for an example: `penstock up` in a scratch folder, on free ports, gone afterwards.

    with running_worker() as worker:                in Python
    python running_worker.py bash example.sh        around a command

A command finds the worker in its environment: PENSTOCK_URL, PENSTOCK_BOOTSTRAP_SERVERS, and
EXAMPLES_FOLDER, the worker's working folder, in which examples put their files. If EXAMPLES_FOLDER
is set already, that worker is used: this is how run.py lets all examples share one.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
STOP_SECONDS = 20


@dataclass(frozen=True)
class RunningWorker:
    """Where a worker is, and the folder that examples may use."""

    url: str
    bootstrap_servers: str
    folder: Path

    def environment(self) -> dict[str, str]:
        """What a command needs to find this worker, and the `penstock` command."""
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
        return {
            **os.environ,
            "PATH": path,
            "PYTHON": sys.executable,
            "PENSTOCK_URL": self.url,
            "PENSTOCK_BOOTSTRAP_SERVERS": self.bootstrap_servers,
            "EXAMPLES_FOLDER": str(self.folder),
        }


@contextmanager
def running_worker(*plugins: str) -> Iterator[RunningWorker]:
    """A worker with these plugins, folders beside this file, installed for it."""
    if "EXAMPLES_FOLDER" in os.environ:
        yield _shared()
        return
    # Ended from outside, an example still takes its worker with it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    folder = Path(tempfile.mkdtemp(prefix="penstock-example-"))
    try:
        with _started(folder, [HERE / plugin for plugin in plugins]) as worker:
            yield worker
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _shared() -> RunningWorker:
    return RunningWorker(
        os.environ["PENSTOCK_URL"],
        os.environ["PENSTOCK_BOOTSTRAP_SERVERS"],
        Path(os.environ["EXAMPLES_FOLDER"]),
    )


@contextmanager
def _started(folder: Path, plugins: Sequence[Path]) -> Iterator[RunningWorker]:
    process = subprocess.Popen(
        [sys.executable, "-m", "penstock", "up", "--port", "0", "--data-dir", str(folder / "data")],
        cwd=folder,
        env=_environment(folder, plugins),
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        places = _announced(process)
        yield RunningWorker(places["REST"], places["Kafka"], folder)
    finally:
        _end(process)


def _environment(folder: Path, plugins: Sequence[Path]) -> dict[str, str]:
    """Nothing of the user's own Penstock, and the plugins where Python finds them."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith("PENSTOCK_")}
    kept = {k: v for k, v in os.environ.items() if k in KEPT}
    path = [str(install(plugins, folder / "plugins")), os.environ.get("PYTHONPATH", "")]
    return {
        **clean,
        **kept,
        "PENSTOCK_STATE_DIR": str(folder / "state"),
        "PYTHONPATH": os.pathsep.join(filter(None, path)),
    }


KEPT = ("PENSTOCK_CACHE_DIR", "PENSTOCK_IVY_SETTINGS", "PENSTOCK_BROKER_HEAP")


def install(plugins: Sequence[Path], target: Path) -> Path:
    """Install packages as pip would, but into a folder of their own: the environment stays as is.

    Yours would be `pip install .` beside the worker. The options only spare the network: the
    build backend is there already, and so is Penstock, their one dependency.
    """
    target.mkdir()
    if plugins:
        # From copies, since a build leaves files beside its sources.
        copies = [shutil.copytree(plugin, target / "built" / plugin.name) for plugin in plugins]
        options = ["--quiet", "--no-index", "--no-deps", "--no-build-isolation"]
        subprocess.run(
            [sys.executable, "-m", "pip", "install", *options, "--target", target, *copies],
            check=True,
        )
    return target


def _announced(process: subprocess.Popen[str]) -> dict[str, str]:
    """What `penstock up` says once it runs: a label and a place in each line."""
    places: dict[str, str] = {}
    for line in process.stdout or ():
        label, _, place = line.strip().partition(" ")
        places[label] = place.strip()
        if {"REST", "Kafka"} <= places.keys():
            return places
    raise SystemExit("The worker did not start; what it said is above.")


def _end(process: subprocess.Popen[str]) -> None:
    process.terminate()
    try:
        process.communicate(timeout=STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def main(command: Sequence[str]) -> int:
    """Run a command with a worker around it; its exit code."""
    with running_worker() as worker:
        return subprocess.run(command, env=worker.environment(), check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
