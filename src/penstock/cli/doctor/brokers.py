"""The brokers that should answer, and how this machine's clock compares with theirs."""

from __future__ import annotations

from confluent_kafka import KafkaError

from penstock.cli.doctor.acls import check_access
from penstock.cli.doctor.asked import Asked
from penstock.cli.doctor.clock import clock_finding
from penstock.cli.doctor.findings import Finding, failed, ok
from penstock.kafka.cluster_look import ClusterLook, Unreachable, look
from penstock.kafka.controller_look import ControllerLook, look_at_controller

DOOR_SECONDS = 2.0
ASKED_DOORS = 3
SECURITY = "security.protocol, sasl.* and ssl.* in --worker-config"
ADVICE = {
    KafkaError._RESOLVE: "Correct the host name, or make it known here (DNS, /etc/hosts).",
    KafkaError._AUTHENTICATION: "Correct sasl.mechanism, sasl.username and sasl.password in "
    "--worker-config.",
    KafkaError._SSL: "Correct security.protocol and ssl.ca.location in --worker-config.",
    KafkaError._INVALID_ARG: f"Correct {SECURITY}, under librdkafka's names.",
    KafkaError._TIMED_OUT: f"Check that a broker listens there and no firewall is in between. A "
    f"listener that wants TLS or SASL also stays silent: see {SECURITY}.",
}
LISTENER = f"Check that a Kafka broker listens there, and what it requires: {SECURITY}."


def check(asked: Asked) -> list[Finding]:
    """Who answers, who may use the topics, and the clock."""
    if not asked.brokers:
        return [clock_finding(asked.data_dir, None)]
    connection = asked.connection()
    try:
        cluster = look(connection, asked.timeout)
    except Unreachable as why:
        return [_silent(asked.brokers, why), clock_finding(asked.data_dir, None)]
    if not cluster.brokers:
        return [_nobody(asked.brokers), clock_finding(asked.data_dir, None)]
    controller = look_at_controller(connection, cluster.brokers[0].id, asked.timeout)
    return [
        broker_finding(cluster, controller),
        *check_access(asked),
        clock_finding(asked.data_dir, controller.ahead),
    ]


def broker_finding(cluster: ClusterLook, controller: ControllerLook) -> Finding:
    """A cluster that answers; its brokers must be reachable where they say that they are."""
    count = len(cluster.brokers)
    version = f", Kafka {controller.version}" if controller.version else ""
    found = f"cluster {cluster.cluster_id}, {count} broker{'s' * (count > 1)}{version}"
    closed = [b for b in cluster.brokers[:ASKED_DOORS] if not b.opens(DOOR_SECONDS)]
    if not closed:
        return ok("broker", found)
    places = ", ".join(f"broker {b.id} says it is at {b.host}:{b.port}" for b in closed)
    advice = "Correct advertised.listeners of the broker, or make that address reachable from here."
    return failed("broker", f"{found}, but {places}, which cannot be reached", advice)


def _silent(brokers: str, why: Unreachable) -> Finding:
    advice = ADVICE.get(why.code, LISTENER)
    if "Connection refused" in str(why):
        advice = "Start the broker, or correct --bootstrap-servers: nothing listens there."
    elif "SSL" in str(why):
        advice = ADVICE[KafkaError._SSL]
    return failed("broker", f"{brokers}: {why}", advice)


def _nobody(brokers: str) -> Finding:
    return failed("broker", f"{brokers} answers, but names no broker", "Try again in a moment.")
