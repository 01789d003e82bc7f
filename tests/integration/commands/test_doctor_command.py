"""`penstock doctor` with a real broker."""

from pathlib import Path

import pytest
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
)

from doctor_run import DoctorRun
from penstock.embedded import EmbeddedBroker, Jars, Java
from python_path import with_path


@pytest.fixture
def doctor(tmp_path: Path, broker: EmbeddedBroker) -> DoctorRun:
    run = DoctorRun(tmp_path, "--timeout", "60")
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


def test_topics_that_are_open_to_all(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, java: Java, jars: Jars
) -> None:
    """A broker with an authorizer: what its ACLs give to everybody is named."""
    authorizer = {
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:ANONYMOUS",
    }
    folder = tmp_path_factory.mktemp("guarded")
    with EmbeddedBroker(folder, java, jars, extra=authorizer) as guarded:
        run = DoctorRun(tmp_path, "--timeout", "60")
        run.environment["PENSTOCK_BOOTSTRAP_SERVERS"] = guarded.bootstrap_servers
        allow(guarded, "penstock-configs", AclOperation.DESCRIBE)
        allow(guarded, "penstock-offsets", AclOperation.READ, principal="User:worker")
        closed = run.json().finding("topic access")
        assert (closed["status"], closed["found"]) == (
            "ok",
            "no ACL opens the worker's topics to everybody",
        )
        allow(guarded, "penstock-", AclOperation.READ, pattern=ResourcePatternType.PREFIXED)
        opened = run.json().finding("topic access")
    assert opened["status"] == "warning"
    for topic in ("configs", "offsets", "status", "workers", "sink-offsets"):
        assert f"READ penstock-{topic}" in opened["found"]
    assert "SECURITY.md" in opened["advice"]


def allow(
    broker: EmbeddedBroker,
    topic: str,
    operation: AclOperation,
    *,
    principal: str = "User:*",
    pattern: ResourcePatternType = ResourcePatternType.LITERAL,
) -> None:
    """Let ``principal`` do something with a topic."""
    acl = AclBinding(
        ResourceType.TOPIC, topic, pattern, principal, "*", operation, AclPermissionType.ALLOW
    )
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    admin.create_acls([acl])[acl].result(20)


def test_a_broker_without_an_authorizer_that_only_this_machine_reaches(doctor: DoctorRun) -> None:
    finding = doctor.json().finding("topic access")
    assert finding["status"] == "ok"
    assert finding["found"] == "no authorizer, and the brokers serve this machine only"
