"""`penstock doctor` with a real broker."""

from pathlib import Path

import pytest

from doctor_run import DoctorRun
from penstock.embedded import EmbeddedBroker
from python_path import with_path


@pytest.fixture
def doctor(tmp_path: Path, broker: EmbeddedBroker) -> DoctorRun:
    run = DoctorRun(tmp_path)
    run.environment["PENSTOCK_BOOTSTRAP_SERVERS"] = broker.bootstrap_servers
    return run


def test_a_broker_that_answers(doctor: DoctorRun) -> None:
    report = doctor.json()
    assert report.code == 0, report.out
    assert report.finding("broker")["found"].startswith("cluster ")
    assert report.finding("broker")["found"].endswith(", 1 broker, Kafka 4.3")
    assert report.finding("clock")["found"].endswith("within 5 s of the Kafka cluster's")


def test_a_clock_that_is_not_the_brokers(doctor: DoctorRun, tmp_path: Path) -> None:
    """The command's clock is an hour ahead; the broker's is not."""
    path = tmp_path / "path"
    path.mkdir()
    (path / "sitecustomize.py").write_text(
        "import time\nreal = time.time\ntime.time = lambda: real() + 3600\n"
    )
    report = doctor.json(PYTHONPATH=with_path(path))
    clock = report.finding("clock")
    assert (report.code, clock["status"]) == (0, "warning")
    assert "it is 3,600 s ahead of the clock of the Kafka cluster" in clock["found"]
    assert "here or on the brokers" in clock["advice"]


def test_a_data_folder_with_a_broker_in_it(doctor: DoctorRun, broker: EmbeddedBroker) -> None:
    """The folder of another worker's Kafka, which this test stands in for."""
    doctor.data.mkdir()
    (doctor.data / "kafka").symlink_to(broker.data_dir)
    report = doctor.json(PENSTOCK_BOOTSTRAP_SERVERS="")
    assert report.code == 1
    assert "is in use by process" in report.finding("data folder")["found"]
