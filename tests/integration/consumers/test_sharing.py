"""Instances of one name that share the partitions."""

from __future__ import annotations

import signal
import threading
from collections import Counter

import pytest

from dying_consumer import dying
from penstock.consumers import Consumer, NameHeld
from topics import Topics
from waiting import eventually

COUNT = 400


class Instance:
    """Reads on its own thread until it is told to leave."""

    def __init__(self, consumer: Consumer) -> None:
        self.consumer = consumer
        self.seen: list[tuple[int, int]] = []
        self._leaving = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        with self.consumer:
            while not self._leaving.is_set():
                for record in self.consumer.take(10, patience=0.2) or ():
                    self.seen.append((record.partition, record.offset))

    @property
    def partitions(self) -> set[int]:
        return {partition for partition, _ in self.seen}

    def leave(self) -> None:
        self._leaving.set()
        self._thread.join(30)


def test_instances_come_and_go_and_nothing_is_lost(consumer, topics: Topics, name: str) -> None:
    topic = f"{name}-four"
    topics.create(topic, partitions=4)

    def write() -> None:
        for partition in range(4):
            topics.produce(topic, [b"x"] * (COUNT // 4), partition=partition)

    def join() -> Instance:
        return Instance(consumer(topic=topic, share=True, flush=0.2))

    instances = [join()]
    try:
        write()
        eventually(lambda: len(instances[0].seen) == COUNT, what="all by the first")
        instances.append(join())
        eventually(lambda: _write_until_both_read(instances, write), every=1, what="both at work")
        with pytest.raises(NameHeld, match="share=True"):
            consumer(topic=topic).open()
        instances[0].leave()
        before = len(instances[1].seen)
        write()
        eventually(lambda: len(instances[1].seen) >= before + COUNT, what="the rest by the second")
    finally:
        for instance in instances:
            instance.leave()
    seen = Counter(place for instance in instances for place in instance.seen)
    written = {m.offset() for m in topics.messages(topic) if m.partition() == 0}
    assert {offset for partition, offset in seen if partition == 0} == written
    assert {partition for partition, _ in seen} == {0, 1, 2, 3}
    assert max(seen.values()) == 1, "who leaves cleanly has stored what it has done"


@pytest.mark.heavy
def test_one_that_is_killed_leaves_its_partitions_to_the_others(
    consumer, topics: Topics, name: str
) -> None:
    """Once its session is over; what it had not stored comes again there."""
    topic = f"{name}-four"
    topics.create(topic, partitions=4)
    left = Instance(consumer(topic=topic, share=True, flush=0.2))
    with dying(
        topics.bootstrap_servers, topic, f"reader-of-{name}", {"share": True}, "take"
    ) as process:
        try:

            def write_until_it_is_dead() -> bool:
                for partition in range(4):
                    topics.produce(topic, [b"%d" % partition] * 10, partition=partition)
                return process.poll() is not None

            eventually(write_until_it_is_dead, every=1, what="one that has taken something")
            out, err = process.communicate()
            assert process.returncode == -signal.SIGKILL, err
            written = {(m.partition(), m.offset()) for m in topics.messages(topic)}
            eventually(lambda: set(left.seen) >= written, what="all of it, by the one that is left")
        finally:
            process.kill()
            left.leave()
    assert int(out) in range(4), "it had partitions of its own"
    assert set(left.seen) == written
    assert max(Counter(left.seen).values()) == 1, "who is left reads nothing twice"


def _write_until_both_read(instances: list[Instance], write) -> bool:
    first, second = instances
    before = len(first.seen)
    write()
    eventually(lambda: len(first.seen) + len(second.seen) >= before + COUNT, what="all of it")
    return bool(second.seen) and len(first.seen) > before
