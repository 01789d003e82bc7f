"""A process that has every kind of request to a broker under way, all the time.

Run as ``python every_request.py <brokers>``: it tells ``ready`` once everything has worked, and on
``stop`` on its standard input it ends in order, when everything has worked once more.
"""

from __future__ import annotations

import faulthandler
import gc
import itertools
import sys
import threading
from collections.abc import Callable, Mapping

import pyarrow as pa
from confluent_kafka import KafkaException, TopicPartition

from penstock.kafka import clients, groups, topics, transactions
from penstock.kafka.clients import Connection
from penstock.kafka.column_consumer import ColumnConsumer
from penstock.kafka.errors import KafkaFault
from penstock.kafka.membership import GroupMember
from penstock.kafka.transactions import GroupOffsets, Transactions

TOPIC = "every-request"
PASSING = (KafkaException, KafkaFault, TimeoutError)
ROUND_SECONDS = 60.0


class Rounds:
    """Calls each kind of request again and again, on a thread of its own."""

    def __init__(self, kinds: Mapping[str, Callable[[], None]]) -> None:
        self._stopping = threading.Event()
        self._done = dict.fromkeys(kinds, 0)
        self._moved = threading.Condition()
        self._threads = [
            threading.Thread(target=self._run, args=item, daemon=True) for item in kinds.items()
        ]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def wait_for_one_more(self) -> None:
        """Return when each has worked once more."""
        before = dict(self._done)
        with self._moved:
            if not self._moved.wait_for(lambda: self._all_beyond(before), ROUND_SECONDS):
                stuck = [kind for kind, count in self._done.items() if count <= before[kind]]
                raise SystemExit(f"nothing more of {', '.join(stuck)}")

    def stop(self) -> None:
        self._stopping.set()
        for thread in self._threads:
            thread.join(ROUND_SECONDS)

    def _all_beyond(self, before: Mapping[str, int]) -> bool:
        return all(self._done[kind] > count for kind, count in before.items())

    def _run(self, kind: str, call: Callable[[], None]) -> None:
        while not self._stopping.is_set():
            try:
                call()
            except PASSING:
                self._stopping.wait(0.01)
                continue
            with self._moved:
                self._done[kind] += 1
                self._moved.notify_all()


class Kinds:
    """What is asked of a broker, in all the ways that Penstock has."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._admin = clients.admin(connection)
        self._numbers = itertools.count()

    def ask_coordinator(self) -> None:
        groups.committed(self._admin, "a-group", [(TOPIC, 0)])

    def delete_group(self) -> None:
        """With a client of its own, whether or not there is an answer."""
        groups.delete(self._admin, "another-group")

    def describe_group(self) -> None:
        groups.members(self._admin, "a-group")

    def ask_leader(self) -> None:
        topics.ends(self._admin, [(TOPIC, 0)], committed=True)

    def ask_controller(self) -> None:
        """With an admin of its own, dropped over its request."""
        admin = clients.admin(self._connection)
        admin.list_topics(timeout=0.2)
        admin.describe_cluster()
        admin.list_consumer_groups()

    def produce(self) -> None:
        producer = clients.producer(self._connection)
        producer.produce(TOPIC, b"value")
        producer.poll(0)
        producer.flush(0.1)

    def fence(self) -> None:
        transactions.fence(self._connection, [f"fenced-{n}" for n in range(2)])

    def commit(self) -> None:
        number = next(self._numbers) % 3
        producer = Transactions(self._connection, f"committed-{number}")
        producer.send(TOPIC, b"value")
        metadata = clients.group_metadata(self._connection, "a-third-group")
        producer.commit([], [GroupOffsets(metadata, [(TOPIC, 0, 1, "")])])

    def read(self) -> None:
        """Dropped, not closed."""
        reader = clients.reader(self._connection)
        reader.assign([TopicPartition(TOPIC, 0, 0)])
        if not reader.consume(1, 1.0):
            raise TimeoutError

    def read_columns(self) -> None:
        settings = clients.reader_settings(self._connection)
        consumer = ColumnConsumer(settings, {(TOPIC, 0): 0}, timestamps=False)
        runs, _ = consumer.take(1, 1.0)
        if next(self._numbers) % 2:
            consumer.close()
        if not runs:
            raise TimeoutError
        assert isinstance(runs[0].values, pa.Array)

    def all(self) -> dict[str, Callable[[], None]]:
        return {
            name: getattr(self, name)
            for name, value in vars(Kinds).items()
            if callable(value) and name not in ("__init__", "all")
        }


def main() -> None:
    faulthandler.enable()
    # Given up after a moment, so that there is always something to be given up.
    groups.COORDINATOR_TIMEOUT = 0.3
    topics.ADMIN_TIMEOUT = 0.5
    transactions.CALL_TIMEOUT = 1.0
    # On whichever thread: also on one of the clients' own.
    gc.set_threshold(50)
    connection = Connection(sys.argv[1])
    topics.ensure_topic(clients.admin(connection), TOPIC, partitions=1)
    membership = GroupMember(
        connection,
        "workers",
        TOPIC,
        on_joined=lambda _: None,
        on_elected=lambda: None,
        on_deposed=lambda: None,
        timings={"session.timeout.ms": 6000},
    )
    membership.start()
    rounds = Rounds(Kinds(connection).all())
    rounds.start()
    rounds.wait_for_one_more()
    print("ready", flush=True)  # noqa: T201 (the test waits for it)
    sys.stdin.readline()
    rounds.wait_for_one_more()
    rounds.stop()
    membership.stop()
    print("done", flush=True)  # noqa: T201 (the test waits for it)


if __name__ == "__main__":
    main()
