"""What the doctor makes of the ACLs of a worker's topics."""

from __future__ import annotations

import pytest

from penstock.cli.doctor.acls import access_findings, internal_topics
from penstock.cli.doctor.findings import Status
from penstock.kafka.acl_look import AclLook, Guard

NO_AUTHORIZER = AclLook(Guard.NONE)


@pytest.mark.parametrize(
    ("brokers", "status"),
    [
        ("127.0.0.1:9092,localhost:9093,[::1]:9094", Status.OK),
        ("127.0.0.1:9092, kafka.example:9092", Status.WARNING),
        ("10.0.0.5:9092", Status.WARNING),
    ],
)
def test_brokers_without_an_authorizer(brokers: str, status: Status) -> None:
    (finding,) = access_findings(NO_AUTHORIZER, brokers)
    assert finding.status is status
    assert ("SECURITY.md" in finding.advice) is (status is Status.WARNING)


def test_brokers_that_do_not_tell() -> None:
    assert access_findings(AclLook(Guard.UNTOLD), "kafka.example:9092") == []


def test_what_is_open_is_named() -> None:
    (finding,) = access_findings(AclLook(Guard.ACLS, (("c", "READ"),)), "kafka.example:9092")
    assert finding.status is Status.WARNING
    assert "READ c" in finding.found


def test_the_topics_of_a_worker() -> None:
    stores = ["penstock-configs", "penstock-offsets", "penstock-status"]
    defaults = [*stores, "penstock-workers", "penstock-sink-offsets", "penstock-sql-catalog"]
    assert internal_topics({}) == defaults
    given = {"group.id": "g", "status.storage.topic": "s"}
    own = ["g-workers", "g-sink-offsets", "penstock-sql-catalog"]
    assert internal_topics(given) == ["penstock-configs", "penstock-offsets", "s", *own]
