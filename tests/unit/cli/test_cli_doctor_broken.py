"""`penstock doctor` on machines on which something is really broken."""

import fcntl
import os
import socket
import socketserver
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from blocked_modules import blocking
from doctor_run import DoctorRun
from fake_jars import ivy_settings, repository_at
from fake_java import fake_java
from free_ports import free_port
from penstock.cli.running import Running
from penstock.embedded import jars_folder
from penstock.embedded.data_folder import claim
from python_path import with_path

pytestmark = pytest.mark.heavy

NOWHERE = "/nowhere"


@pytest.fixture
def doctor(tmp_path: Path) -> DoctorRun:
    return DoctorRun(tmp_path)


@contextmanager
def listening() -> Iterator[int]:
    """A port that accepts connections and never says anything."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield int(server.getsockname()[1])


@contextmanager
def answering(answer: bytes) -> Iterator[int]:
    """A port that answers whatever comes with these bytes, and hangs up."""

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            self.request.recv(1000)
            self.request.sendall(answer)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield int(server.server_address[1])
        finally:
            server.shutdown()
            thread.join()


def test_nothing_broken(doctor: DoctorRun) -> None:
    report = doctor.text()
    assert (report.code, report.err) == (0, ""), report.out
    assert "✓ Java          " in report.out
    assert "jdk.incubator.vector" in report.out
    assert "✗" not in report.out
    assert "\x1b" not in report.out
    assert report.out.endswith(
        "\n\nReady. Next: `penstock up`, or `penstock demo` to see it work.\n"
    )
    assert not doctor.data.exists()


def test_an_output_that_can_print_ascii_only(doctor: DoctorRun) -> None:
    report = doctor.text("--port", str(free_port()), PYTHONIOENCODING="ascii")
    assert report.code == 0
    assert report.out.startswith("ok Python        3.")
    assert report.out.isascii()


def test_no_java_at_all(doctor: DoctorRun, tmp_path: Path) -> None:
    report = doctor.json(
        PATH=NOWHERE, PENSTOCK_JAVA_FOLDERS="", PENSTOCK_CACHE_DIR=str(tmp_path / "empty")
    )
    assert report.code == 1
    java, jars = report.finding("Java"), report.finding("jars")
    assert java["status"] == jars["status"] == "failed"
    assert java["found"].startswith("none found; Java 17 to 22")
    assert "apt install openjdk-17" in java["advice"]
    assert "JAVA_HOME" in java["advice"]
    assert "no Java to fetch them with" in jars["found"]


def test_java_too_old_too_new_and_without_the_module(doctor: DoctorRun, tmp_path: Path) -> None:
    fake_java(tmp_path / "jvm" / "8", "1.8.0_402")
    fake_java(tmp_path / "jvm" / "23", "23.0.1")
    fake_java(tmp_path / "jvm" / "lean", "17.0.1", modules="java.base@17")
    report = doctor.text(PATH=NOWHERE, PENSTOCK_JAVA_FOLDERS=f"{tmp_path}/jvm/*")
    assert report.code == 1
    assert "✗ Java          none fits; Java 17 to 22" in report.out
    for told in (
        "8/bin/java: Java 8 (1.8.0_402) is too old",
        "23/bin/java: Java 23 (23.0.1) is too new",
        "lean/bin/java: Java 17 (17.0.1) lacks the module jdk.incubator.vector",
        "-> Install one",
    ):
        assert told in report.out
    assert report.out.endswith(
        "\n\nOne thing to fix, marked above; then run `penstock doctor` again.\n"
    )


def test_java_home_that_does_not_fit(doctor: DoctorRun, tmp_path: Path) -> None:
    home = tmp_path / "java-11"
    fake_java(home, "11.0.22")
    report = doctor.json(JAVA_HOME=str(home))
    why = "Java 11 (11.0.22) is too old"
    assert report.code == 0
    assert report.status("Java") == "ok"
    assert report.finding("JAVA_HOME")["status"] == "warning"
    assert report.finding("JAVA_HOME")["found"] == f"{home} is ignored: {why}"
    assert "unset it" in report.finding("JAVA_HOME")["advice"]


def test_no_network_for_the_first_fetch(doctor: DoctorRun, tmp_path: Path) -> None:
    nowhere = repository_at(f"http://me:hush@127.0.0.1:{free_port()}/")
    cache = tmp_path / "empty"
    report = doctor.json(
        PENSTOCK_CACHE_DIR=str(cache),
        PENSTOCK_IVY_SETTINGS=ivy_settings(tmp_path / "ivy.xml", nowhere),
    )
    jars = report.finding("jars")
    assert (report.code, jars["status"]) == (1, "failed")
    assert jars["found"].startswith(f"not fetched yet ({jars_folder(cache)}), and they cannot be")
    assert "Connection refused" in jars["found"]
    assert "hush" not in report.out
    assert f"copy the folder {jars_folder(cache)} from a machine that has it" in jars["advice"]
    assert "proxyHost" in jars["advice"]
    assert not cache.exists()


def test_damaged_jars_that_can_be_fetched_anew(doctor: DoctorRun, tmp_path: Path) -> None:
    (jars_folder(doctor.cache) / "spark" / "c.jar").write_bytes(b"j")
    shelf = tmp_path / "shelf"
    shelf.mkdir()
    (shelf / "slf4j-simple-1.7.36.jar").write_bytes(b"jar")
    pattern = f'<artifact pattern="{shelf}/[artifact]-[revision].[ext]"/>'
    resolver = f'<filesystem name="only">{pattern}</filesystem>'
    report = doctor.json(PENSTOCK_IVY_SETTINGS=ivy_settings(tmp_path / "ivy.xml", resolver))
    jars = report.finding("jars")
    assert (report.code, jars["status"]) == (0, "warning"), jars
    assert "damaged: spark/c.jar has 1 bytes instead of 3" in jars["found"]
    assert "python -m penstock.embedded" in jars["advice"]


def test_ports_that_are_taken(doctor: DoctorRun) -> None:
    with listening() as rest, listening() as kafka:
        report = doctor.json("--port", str(rest), "--kafka-port", str(kafka))
    me = f"process {os.getpid()} ({psutil.Process().name()})"
    assert report.code == 1
    for name, port, option in (
        ("REST port", rest, "--port"),
        ("Kafka port", kafka, "--kafka-port"),
    ):
        finding = report.finding(name)
        assert finding["status"] == "failed"
        assert finding["found"] == f"{port} on 127.0.0.1 is taken by {me}"
        assert finding["advice"].endswith(f"choose another port with {option}.")


@pytest.fixture
def worker(doctor: DoctorRun, monkeypatch: pytest.MonkeyPatch) -> Iterator[Running]:
    """What `penstock up` leaves while it runs: a listener and a note about it."""
    monkeypatch.setenv("PENSTOCK_STATE_DIR", doctor.environment["PENSTOCK_STATE_DIR"])
    with listening() as port:
        running = Running.here(f"http://127.0.0.1:{port}", "", doctor.data)
        running.write()
        yield running


def test_a_worker_of_ones_own_is_no_hindrance(doctor: DoctorRun, worker: Running) -> None:
    port = worker.url.rpartition(":")[2]
    report = doctor.text("--port", port)
    assert report.code == 0
    used = f"{port} is used by your worker at {worker.url} (process {os.getpid()})"
    assert f"✓ REST port     {used}" in report.out
    assert f"✓ data folder   {doctor.data}, used by your worker" in report.out
    assert report.out.endswith(f"Penstock runs at {worker.url}. Next: `penstock get connectors`.\n")


def test_a_worker_on_another_data_folder(
    doctor: DoctorRun, worker: Running, tmp_path: Path
) -> None:
    port = worker.url.rpartition(":")[2]
    report = doctor.json("--port", port, "--data-dir", str(tmp_path / "other"))
    finding = report.finding("REST port")
    assert (report.code, finding["status"]) == (0, "warning")
    assert f"on data folder {doctor.data}" in finding["found"]
    assert f"penstock doctor --data-dir {doctor.data}" in finding["advice"]


def test_a_data_folder_in_use(doctor: DoctorRun) -> None:
    lock = claim(doctor.data / "kafka")
    try:
        report = doctor.json()
        elsewhere = doctor.json("--bootstrap-servers", "127.0.0.1:1", "--timeout", "0.5")
    finally:
        lock.release()
    finding = report.finding("data folder")
    assert (report.code, finding["status"]) == (1, "failed")
    assert f"is in use by process {os.getpid()} (" in finding["found"]
    assert "choose another folder with --data-dir" in finding["advice"]
    assert elsewhere.status("data folder") == "ok"


def test_a_data_folder_that_kafka_has_not_left(doctor: DoctorRun) -> None:
    lock = doctor.data / "kafka" / "log" / ".lock"
    lock.parent.mkdir(parents=True)
    with lock.open("wb") as file:
        fcntl.lockf(file, fcntl.LOCK_EX)
        report = doctor.json(alone=True)  # such a lock does not keep its own process out
    assert "is in use by another process" in report.finding("data folder")["found"]


def test_folders_that_cannot_be_made(doctor: DoctorRun, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    places = {"data": tmp_path / "file" / "data", "cache": tmp_path / "file" / "cache"}
    report = doctor.json("--data-dir", str(places["data"]), PENSTOCK_CACHE_DIR=str(places["cache"]))
    assert report.code == 1
    for name, place in (("data folder", places["data"]), ("jar cache", places["cache"])):
        assert report.status(name) == "failed"
        found = f"{place} cannot be used: {tmp_path / 'file'} is not a folder"
        assert report.finding(name)["found"] == found
        assert "another folder" in report.finding(name)["advice"]


def test_a_machine_that_is_too_small(doctor: DoctorRun, tmp_path: Path) -> None:
    config = tmp_path / "worker.properties"
    config.write_text("spark.driver.memory=90000g\n")
    # This file system of Linux has no space at all, not even for root.
    report = doctor.json("--data-dir", "/proc/penstock", "--worker-config", str(config))
    assert report.code == 1
    assert report.finding("disk")["found"].startswith("0 B of 0 B free at /proc/penstock")
    assert "Free some space" in report.finding("disk")["advice"]
    assert "90000g for Spark's driver (spark.driver.memory)" in report.finding("memory")["found"]
    assert "lower spark.driver.memory" in report.finding("memory")["advice"]


def test_sizes_that_are_none(doctor: DoctorRun) -> None:
    report = doctor.json(PENSTOCK_BROKER_HEAP="plenty")
    assert "Kafka (PENSTOCK_BROKER_HEAP): plenty" in report.finding("memory")["found"]
    assert "512m" in report.finding("memory")["advice"]


def test_a_worker_config_that_is_wrong(doctor: DoctorRun, tmp_path: Path) -> None:
    config = tmp_path / "worker.properties"
    config.write_text("session.timeout.ms=soon\n")
    report = doctor.json("--worker-config", str(config))
    assert (report.code, report.not_ok()) == (1, ["worker config"])
    assert "session.timeout.ms" in report.finding("worker config")["found"]


def test_a_broker_that_refuses(doctor: DoctorRun) -> None:
    servers = f"127.0.0.1:{free_port()}"
    report = doctor.json(PENSTOCK_BOOTSTRAP_SERVERS=servers)
    broker = report.finding("broker")
    assert (report.code, broker["status"]) == (1, "failed")
    assert broker["found"].startswith(f"{servers}: ")
    assert "Connection refused" in broker["found"]
    assert broker["advice"].startswith("Start the broker, or correct --bootstrap-servers")
    assert "Kafka port" not in report.out


def test_a_broker_that_does_not_answer(doctor: DoctorRun) -> None:
    with listening() as port:
        report = doctor.json("--bootstrap-servers", f"127.0.0.1:{port}", "--timeout", "1")
    assert report.code == 1
    assert report.finding("broker")["found"] == f"127.0.0.1:{port}: no answer within 1 s"
    assert "firewall" in report.finding("broker")["advice"]
    assert "TLS" in report.finding("broker")["advice"]


def test_something_else_than_a_broker(doctor: DoctorRun) -> None:
    with answering(b"HTTP/1.1 400 Bad Request\r\n\r\n") as port:
        report = doctor.json("--bootstrap-servers", f"127.0.0.1:{port}")
    assert report.status("broker") == "failed"
    assert "Check that a Kafka broker listens there" in report.finding("broker")["advice"]


def test_tls_to_a_listener_without_it_and_no_secret_told(doctor: DoctorRun, tmp_path: Path) -> None:
    config = tmp_path / "worker.properties"
    config.write_text("security.protocol=SSL\nsasl.password=hush\nssl.key.password=hush\n")
    with answering(b"this is no handshake") as port:
        servers = f"127.0.0.1:{port}"
        report = doctor.json("--bootstrap-servers", servers, "--worker-config", str(config))
    assert report.status("broker") == "failed"
    assert "Correct security.protocol and ssl.ca.location" in report.finding("broker")["advice"]
    assert "hush" not in report.out + report.err


def test_security_settings_that_are_wrong(doctor: DoctorRun, tmp_path: Path) -> None:
    config = tmp_path / "worker.properties"
    config.write_text("security.protocol=hush\nsasl.password=hush\nbootstrap.servers=127.0.0.1:1\n")
    report = doctor.json("--worker-config", str(config))
    assert 'Invalid value "***"' in report.finding("broker")["found"]
    assert "under librdkafka's names" in report.finding("broker")["advice"]
    assert "hush" not in report.out + report.err


def test_a_host_that_nobody_knows(doctor: DoctorRun) -> None:
    report = doctor.json("--bootstrap-servers", "broker.invalid:9092")
    assert "Failed to resolve" in report.finding("broker")["found"]
    assert report.finding("broker")["advice"].startswith("Correct the host name")


def test_a_package_that_is_missing(doctor: DoctorRun, tmp_path: Path) -> None:
    report = doctor.json(PYTHONPATH=blocking(tmp_path / "path", "pandas"))
    packages = report.finding("packages")
    assert (report.code, packages["status"]) == (1, "failed")
    assert "cannot be imported: No module named 'pandas'" in packages["found"]
    assert f"{sys.executable} -m pip install 'pandas" in packages["advice"]
    assert "make clean setup" in packages["advice"]


@pytest.mark.parametrize("module", ["typer", "psutil"])
def test_a_package_without_which_no_command_starts(
    doctor: DoctorRun, tmp_path: Path, module: str
) -> None:
    report = doctor.text(PYTHONPATH=blocking(tmp_path / "path", module))
    assert report.code == 1
    assert report.out.startswith("✓ Python")
    assert f"cannot be imported: No module named '{module}'" in report.out
    assert f"-m pip install '{module}" in report.out
    assert report.out.endswith("then run `penstock doctor` again.\n")


def test_first_aid_as_json(doctor: DoctorRun, tmp_path: Path) -> None:
    report = doctor.json(PYTHONPATH=blocking(tmp_path / "path", "rich"))
    assert (report.code, report.not_ok()) == (1, ["packages"])


def test_a_package_of_the_wrong_version(doctor: DoctorRun, tmp_path: Path) -> None:
    info = tmp_path / "path" / "orjson-1.2.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: orjson\nVersion: 1.2\n")
    report = doctor.json(PYTHONPATH=with_path(tmp_path / "path"))
    assert report.code == 1
    assert "orjson 1.2 does not fit: orjson" in report.finding("packages")["found"]


def test_a_clock_that_went_back(doctor: DoctorRun) -> None:
    log = doctor.data / "penstock.log"
    doctor.data.mkdir()
    log.touch()
    later = log.stat().st_mtime + 3600
    os.utime(log, (later, later))
    report = doctor.json()
    clock = report.finding("clock")
    assert (report.code, clock["status"]) == (0, "warning")
    assert f"s behind the last change of {log}" in clock["found"]
    assert "NTP" in clock["advice"]
