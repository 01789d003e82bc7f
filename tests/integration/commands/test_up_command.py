"""`penstock up` as its user meets it: one command, with Kafka and Spark of its own."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ipaddress import ip_address
from pathlib import Path

import psutil
import pytest

from free_ports import free_port
from topics import Topics
from waiting import eventually
from worker_process import WorkerProcess

STOP_SECONDS = 10.0


@pytest.fixture
def up(tmp_path: Path) -> Iterator[WorkerProcess]:
    """A worker with an embedded broker; not started yet."""
    process = WorkerProcess(tmp_path, port=free_port())
    yield process
    process.close()


def penstock(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command as another terminal would."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith("PENSTOCK_")}
    return subprocess.run(
        [sys.executable, "-m", "penstock", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**clean, "COLUMNS": "200", **environment},
    )


def tree(up: WorkerProcess) -> list[psutil.Process]:
    """The worker's process and everything it has started, directly or not."""
    assert up.process is not None
    root = psutil.Process(up.process.pid)
    related = [p for p in psutil.process_iter(["cmdline"]) if _mentions(p, up.folder / "data")]
    return list({p.pid: p for p in [root, *root.children(recursive=True), *related]}.values())


def _mentions(process: psutil.Process, folder: Path) -> bool:
    return any(str(folder) in argument for argument in process.info["cmdline"] or ())


def spark_of(up: WorkerProcess) -> list[int]:
    """The JVMs of Spark that belong to the worker."""
    found = []
    for process in tree(up):
        try:
            if any("org.apache.spark" in argument for argument in process.cmdline()):
                found.append(process.pid)
        except psutil.Error:
            continue
    return found


def listening(up: WorkerProcess) -> set[str]:
    """The addresses on which anything of the worker listens."""
    found = set()
    for process in tree(up):
        try:
            connections = process.net_connections("inet")
        except psutil.Error:
            continue
        found |= {c.laddr.ip for c in connections if c.status == psutil.CONN_LISTEN}
    return found


def topics_of(up: WorkerProcess) -> Topics:
    """The topics of the broker that the worker runs now."""
    return Topics(brokers_of(up))


def brokers_of(up: WorkerProcess) -> str:
    """What its note says; it is written before they are known, and again after the first health."""

    def named() -> str:
        (note,) = (up.folder / "state").glob("up-*.json")
        return str(json.loads(note.read_text())["bootstrap_servers"])

    return eventually(named, what="a note with the brokers")


def ended_by(up: WorkerProcess, send: Callable[[list[psutil.Process]], None]) -> None:
    """A signal under load: the worker is gone in time, with 0, and with all that it started."""
    assert up.process is not None
    family = tree(up)
    assert len(family) > 3
    send(family)
    assert up.process.wait(STOP_SECONDS) == 0, up.output()
    _, left = psutil.wait_procs(family, timeout=3)
    assert left == []
    assert up.output().endswith("Stopping ...\nStopped.\n")
    assert "Traceback" not in up.output()
    assert list((up.folder / "state").iterdir()) == []


def ctrl_c(family: list[psutil.Process]) -> None:
    """What a terminal does: the signal goes to the whole foreground group."""
    group = os.getpgid(family[0].pid)
    for process in family:
        if os.getpgid(process.pid) == group:
            process.send_signal(signal.SIGINT)


@contextmanager
def growing(file: Path) -> Iterator[None]:
    """Lines are appended all the while, so that there is always something left to do."""
    over = threading.Event()

    def grow() -> None:
        with file.open("a") as out:
            for block in itertools.count():
                if over.wait(0.01):
                    return
                out.writelines(f"{block}-{line} {'x' * 60}\n" for line in range(200))
                out.flush()

    thread = threading.Thread(target=grow)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@pytest.mark.heavy
@pytest.mark.crowd  # it ends in time where nothing runs beside it
def test_the_life_of_up(up: WorkerProcess, tmp_path: Path) -> None:
    """From its first line to its second end: nothing is lost, doubled or left behind."""
    up.start()
    _says_where_everything_is(up)
    _is_found(up)
    _lazy(up)
    _refuses_what_is_in_use(up)

    file = tmp_path / "in.txt"
    file.touch()
    config = {"connector.class": "FileStreamSource", "file": str(file), "topic": "lines"}
    wanted = tmp_path / "connector.json"
    wanted.write_text(json.dumps({"name": "lines", "config": config}))
    applied = penstock("apply", "-f", str(wanted), PENSTOCK_STATE_DIR=str(up.folder / "state"))
    assert (applied.returncode, applied.stdout) == (0, "Connector lines created.\n")
    with growing(file):
        topics = topics_of(up)
        eventually(lambda: topics.end("lines") > 10_000, within=60, what="load")
        assert len(spark_of(up)) >= 1
        assert all(_is_loopback(address) for address in listening(up))
        ended_by(up, lambda family: family[0].send_signal(signal.SIGTERM))

    up.start()
    topics = topics_of(up)
    stands = [{"partition": {"filename": str(file)}, "offset": {"position": file.stat().st_size}}]
    eventually(lambda: up.client.offsets("lines") == stands, within=90, what="the rest", every=0.5)
    assert topics.values("lines") == file.read_text().splitlines()

    with growing(file):
        end = topics.end("lines")
        eventually(lambda: topics.end("lines") > end + 10_000, within=60, what="load again")
        ended_by(up, ctrl_c)


def _is_loopback(address: str) -> bool:
    parsed = ip_address(address)
    mapped = getattr(parsed, "ipv4_mapped", None)
    return (mapped or parsed).is_loopback


def _says_where_everything_is(up: WorkerProcess) -> None:
    brokers = brokers_of(up)
    eventually(lambda: "Ctrl-C" in up.output(), what="the announcement")
    printed = up.output()
    for told in (
        "Penstock is running.",
        f"REST   {up.url}",
        f"Kafka  {brokers}",
        f"Data   {up.folder / 'data'}",
        f"Log    {up.folder / 'data' / 'penstock.log'}",
        "penstock get plugins",
        "penstock apply -f FILE",
    ):
        assert told in printed
    assert (up.folder / "data" / "penstock.log").exists()


def _is_found(up: WorkerProcess) -> None:
    """By its note, by an option and by the environment; and not at all without these."""
    state, nowhere = str(up.folder / "state"), str(up.folder / "nowhere")
    for answer in (
        penstock("get", "plugins", PENSTOCK_STATE_DIR=state),
        penstock("get", "plugins", "--url", up.url, PENSTOCK_STATE_DIR=nowhere),
        penstock("get", "plugins", PENSTOCK_URL=up.url, PENSTOCK_STATE_DIR=nowhere),
    ):
        assert answer.returncode == 0, answer.stderr
        assert "FileStreamSourceConnector" in answer.stdout
    lost = penstock("get", "plugins", PENSTOCK_STATE_DIR=nowhere)
    assert lost.returncode == 1
    assert lost.stderr.startswith("Error: No worker found. Start one with `penstock up`")
    assert lost.stderr.count("\n") == 1


def _lazy(up: WorkerProcess) -> None:
    """Everything that needs no Spark is answered without it."""
    client = up.client
    config = {"connector.class": "FileStreamSource", "topic": "t"}
    assert client.validate("FileStreamSource", config)["error_count"] > 0
    resting = {**config, "file": str(up.folder / "none")}
    client.create("resting", resting, "STOPPED")
    entry = {"partition": {"filename": resting["file"]}, "offset": {"position": 1}}
    client.alter_offsets("resting", [entry])
    assert client.offsets("resting") == [entry]
    client.delete("resting")
    assert spark_of(up) == []


def _refuses_what_is_in_use(up: WorkerProcess) -> None:
    """One clear line for a data folder or a port that is taken, and the running worker lives on."""
    environment = {"PENSTOCK_STATE_DIR": str(up.folder / "other-state")}
    same, own = str(up.folder / "data"), str(up.folder / "other-data")
    port = up.url.rpartition(":")[2]
    second = penstock("up", "--data-dir", same, "--port", "0", **environment)
    taken = penstock("up", "--data-dir", own, "--port", port, **environment)
    assert (second.returncode, taken.returncode) == (1, 1)
    assert f"Port {port} on 127.0.0.1 is taken" in taken.stderr
    assert same in second.stderr
    for answer in (second, taken):
        assert answer.stderr.startswith("Error: ")
        assert answer.stderr.count("\n") == 1
        assert "Traceback" not in answer.stdout + answer.stderr
    assert up.healthy()
