"""The doctor's parts: what makes a finding, how findings are printed, what they amount to."""

import json
import os
import socket
import threading
import time
from collections.abc import Callable
from importlib.metadata import distribution, requires
from pathlib import Path
from typing import Any

import pytest

from fake_jars import ivy_settings, repository_at
from free_ports import free_port
from penstock.cli.doctor import report
from penstock.cli.doctor.brokers import broker_finding
from penstock.cli.doctor.clock import clock_finding
from penstock.cli.doctor.examination import run as run_checks
from penstock.cli.doctor.findings import Finding, Status, failed, ok, warning, worst
from penstock.cli.doctor.folders import disk_finding
from penstock.cli.doctor.java import java_findings
from penstock.cli.doctor.memory import available, bytes_of, group_rooms, memory_finding
from penstock.cli.doctor.python import module_of, python_version
from penstock.cli.doctor.requirements import fits, parse
from penstock.embedded import Java, find_java
from penstock.embedded.jars_check import why_no_download
from penstock.kafka.cluster_look import Broker, ClusterLook
from penstock.kafka.controller_look import ControllerLook

Run = Callable[..., Any]
JAVA = Java(Path("/j/bin/java"), Path("/j"), 17, "17.0.1")


@pytest.fixture
def findings(monkeypatch: pytest.MonkeyPatch) -> list[Finding]:
    """What the examination of the next run finds."""
    found: list[Finding] = [ok("one", "fine"), warning("two", "so so", "mind it")]
    monkeypatch.setattr("penstock.cli.doctor.command.examine", lambda asked: found)
    return found


def test_warnings_keep_exit_code_0(run: Run, findings: list[Finding]) -> None:
    result = run("doctor")
    assert result.code == 0
    assert result.out == (
        "✓ one           fine\n"
        "! two           so so\n"
        "                -> mind it\n"
        "\n"
        "Ready. Next: `penstock up`, or `penstock demo` to see it work.\n"
    )


def test_a_failure_is_exit_code_1(run: Run, findings: list[Finding]) -> None:
    findings += [failed("three", "first\nsecond", "do [this]\nor that"), failed("four", "", "x")]
    result = run("doctor")
    assert result.code == 1
    assert result.out.endswith(
        "✗ three         first\n"
        "                second\n"
        "                -> do [this]\n"
        "                -> or that\n"
        "✗ four          \n"
        "                -> x\n"
        "\n"
        "2 things to fix, marked above; then run `penstock doctor` again.\n"
    )


def test_json_and_nothing_else(run: Run, findings: list[Finding]) -> None:
    result = run("doctor", "-o", "json")
    assert (result.code, result.err) == (0, "")
    assert json.loads(result.out) == [
        {"name": "one", "status": "ok", "found": "fine", "advice": ""},
        {"name": "two", "status": "warning", "found": "so so", "advice": "mind it"},
    ]


@pytest.mark.parametrize("args", [("--timeout", "0"), ("--port", "x"), ("--kafka-port", "0")])
def test_wrong_usage_is_2(run: Run, args: tuple[str, ...]) -> None:
    assert run("doctor", *args).code == 2


@pytest.mark.parametrize(
    ("encoding", "mark"), [("utf-8", "✓"), ("ascii", "ok"), ("latin-1", "ok"), (None, "ok")]
)
def test_marks_that_the_output_can_print(encoding: str | None, mark: str) -> None:
    assert report.marks_for(encoding)[Status.OK] == mark


def test_the_worst_counts() -> None:
    assert worst([]) is Status.OK
    assert worst([failed("a", "", ""), warning("b", "", ""), ok("c", "")]) is Status.FAILED


def test_a_check_that_breaks_is_a_finding_and_the_others_go_on() -> None:
    def broken() -> list[Finding]:
        raise ZeroDivisionError("ouch")

    def lacking() -> list[Finding]:
        raise ModuleNotFoundError("No module named 'x'")

    found = run_checks([("a", broken), ("b", lacking), ("c", lambda: [ok("c", "fine")])], 20)
    assert [finding.status for finding in found] == [Status.FAILED, Status.WARNING, Status.OK]
    assert "ZeroDivisionError: ouch" in found[0].found
    assert "packages" in found[1].advice


def test_a_check_that_hangs_is_a_finding() -> None:
    over = threading.Event()
    try:
        (found,) = run_checks([("a", lambda: [ok("a", "") for _ in [over.wait()]])], 0.1)
    finally:
        over.set()
    assert (found.status, found.found) == (Status.FAILED, "no answer in time")


@pytest.mark.parametrize(
    ("version", "wanted", "fitting"),
    [
        ("3.11.7", ">=3.11,<3.14", True),
        ("3.14.0", ">=3.11,<3.14", False),
        ("3.10.9", ">=3.11,<3.14", False),
        ("3.14.0rc1", "<3.14", False),
        ("4.0.5", "==4.0.5", True),
        ("4.0", "==4.0.0", True),
        ("4.0.6", "==4.0.5", False),
        ("2", ">2, <=3", False),
        ("1.5", "!=1.5", False),
        ("1.5", "", True),
    ],
)
def test_versions_that_fit(version: str, wanted: str, fitting: bool) -> None:
    assert fits(version, wanted) is fitting


def test_requirements_of_penstock_itself() -> None:
    """Each is of a form that is understood: the version it has fits, the version 0 does not."""
    parsed = [required for text in requires("penstock") or [] if (required := parse(text))]
    assert {"pyspark", "pandas", "confluent-kafka"} <= {required.name for required in parsed}
    assert "ruff" not in {required.name for required in parsed}
    for required in parsed:
        assert fits(distribution(required.name).version, required.versions)
        assert not fits("0", required.versions)
    assert parse("x>=1; python_version < '3'") is None


def test_modules_of_packages() -> None:
    names = {"kafka-python": "kafka", "confluent-kafka": "confluent_kafka", "pandas": "pandas"}
    assert {name: module_of(distribution(name)) for name in names} == names


def test_a_python_that_does_not_fit() -> None:
    found = python_version("3.10.2", ">=3.11,<3.14")
    assert found.status is Status.FAILED
    assert "3.10.2" in found.found
    assert "make clean setup PYTHON=" in found.advice


def test_a_java_home_without_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    java, home = java_findings(JAVA, [])
    assert java.status is Status.OK
    assert home.found == f"{tmp_path} is ignored: there is no bin/java in it"


def test_a_repository_that_does_not_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        settings = ivy_settings(tmp_path / "ivy.xml", repository_at(url))
        monkeypatch.setenv("PENSTOCK_IVY_SETTINGS", settings)
        assert why_no_download(find_java(), 2) == "no answer within 2 s"


def test_a_disk_that_is_nearly_full(tmp_path: Path) -> None:
    folder = tmp_path / "not" / "there" / "yet"
    full = disk_finding(folder, least=10**18)
    filling = disk_finding(folder, least=0, good=10**18)
    assert (full.status, filling.status) == (Status.FAILED, Status.WARNING)
    assert full.advice == filling.advice != ""
    assert str(folder) in full.found
    assert not (tmp_path / "not").exists()


@pytest.mark.parametrize(
    ("free", "status"),
    [(1.4, Status.FAILED), (1.6, Status.WARNING), (2.9, Status.WARNING), (3.1, Status.OK)],
)
def test_memory_by_what_is_needed(free: float, status: Status) -> None:
    needed = bytes_of("1g") + bytes_of("512m")
    found = memory_finding(int(free * 2**30), needed, "asks", embedded=True)
    assert found.status is status
    assert ("PENSTOCK_BROKER_HEAP" in found.advice) is (status is not Status.OK)


@pytest.mark.parametrize(
    ("text", "size"),
    [("512m", 2**29), ("1G", 2**30), ("2gb", 2**31), ("1024", 2**30), ("much", 0), ("-1g", 0)],
)
def test_sizes_as_spark_writes_them(text: str, size: int) -> None:
    assert bytes_of(text, 2**20) == size


def write_group(folder: Path, **files: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("_", ".", 1)).write_text(text)


def test_limits_of_control_groups(tmp_path: Path) -> None:
    stat = "anon 1\ninactive_file 50\nactive_file 7\n"
    inner, outer = tmp_path / "a" / "b", tmp_path / "a"
    write_group(inner, memory_max="max\n", memory_current="700\n", memory_stat=stat)
    write_group(outer, memory_max="1000\n", memory_current="700\n", memory_stat=stat)
    (tmp_path / "me").write_text("0::/a/b\n")
    assert list(group_rooms(tmp_path, tmp_path / "me")) == [350]


def test_limits_of_older_control_groups_in_a_container(tmp_path: Path) -> None:
    memory = tmp_path / "memory"
    memory.mkdir()
    (memory / "memory.limit_in_bytes").write_text("1000\n")
    (memory / "memory.usage_in_bytes").write_text("1200\n")
    (memory / "memory.stat").write_text("total_inactive_file 100\n")
    (tmp_path / "me").write_text("5:cpu:/x\n4:memory,hugetlb:/docker/of-the-host\n")
    assert list(group_rooms(tmp_path, tmp_path / "me")) == [0]


def test_memory_of_this_machine(tmp_path: Path) -> None:
    assert available() > 0
    assert list(group_rooms(tmp_path, tmp_path / "none")) == []


def test_brokers_that_cannot_be_reached_where_they_say_they_are() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        here = Broker(1, "127.0.0.1", server.getsockname()[1])
        gone = Broker(2, "127.0.0.1", free_port())
        fine = broker_finding(ClusterLook("id", (here,)), ControllerLook("4.3"))
        found = broker_finding(ClusterLook("id", (here, gone)), ControllerLook())
    assert (fine.status, fine.found) == (Status.OK, "cluster id, 1 broker, Kafka 4.3")
    assert found.status is Status.FAILED
    assert f"broker 2 says it is at 127.0.0.1:{gone.port}, which cannot be reached" in found.found
    assert "broker 1" not in found.found
    assert "advertised.listeners" in found.advice


@pytest.mark.parametrize(
    ("ahead", "status", "told"),
    [
        (0.3, Status.OK, "within 5 s of the Kafka cluster's"),
        (-61.0, Status.WARNING, "it is 61 s ahead of the clock of the Kafka cluster"),
        (7200.0, Status.WARNING, "it is 7,200 s behind the clock of the Kafka cluster"),
    ],
)
def test_a_clock_beside_the_clusters(
    tmp_path: Path, ahead: float, status: Status, told: str
) -> None:
    found = clock_finding(tmp_path, ahead)
    assert found.status is status
    assert told in found.found
    assert time.strftime("%Y-%m-", time.gmtime()) in found.found


@pytest.mark.parametrize(
    ("answer", "told"),
    [("echo yes", ", kept by NTP"), ("echo no", ", not kept by NTP"), ("exit 1", " UTC")],
)
def test_what_the_system_says_of_its_clock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: str, told: str
) -> None:
    program = tmp_path / "timedatectl"
    program.write_text(f"#!/bin/sh\n{answer}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr("penstock.cli.doctor.clock.NTP_SECONDS", 60.0)
    found = clock_finding(tmp_path, None)
    assert found.status is Status.OK
    assert found.found.endswith(told)
