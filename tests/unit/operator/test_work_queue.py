"""Which resource is due next."""

import threading

from penstock.operator.work_queue import WorkQueue


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_key_that_is_added_twice_is_taken_once() -> None:
    queue: WorkQueue[str] = WorkQueue(Clock())
    queue.add("a")
    queue.add("a")
    assert queue.take() == "a"
    assert len(queue) == 0


def test_the_earlier_of_two_times_counts() -> None:
    clock = Clock()
    queue: WorkQueue[str] = WorkQueue(clock)
    queue.add("a", 100)
    queue.add("b", 50)
    queue.add("a", 10)
    clock.now = 200
    assert [queue.take(), queue.take()] == ["a", "b"]
    queue.close()
    assert queue.take() is None


def test_what_is_added_while_it_is_worked_on_comes_after() -> None:
    queue: WorkQueue[str] = WorkQueue(Clock())
    queue.add("a")
    assert queue.take() == "a"
    queue.add("a")
    assert len(queue) == 0
    queue.done("a")
    assert queue.take() == "a"


def test_retries_come_less_and_less_often_until_it_is_settled() -> None:
    clock = Clock()
    queue: WorkQueue[str] = WorkQueue(clock)
    for due in (1, 2, 4, 5, 5):
        queue.retry("a", longest=5)
        clock.now += due - 0.5
        assert len(queue) == 0
        clock.now += 0.5
        assert queue.take() == "a"
        queue.done("a")
    queue.settle("a")
    queue.retry("a", longest=5)
    clock.now += 1
    assert queue.take() == "a"


def test_a_taker_waits_until_something_is_due() -> None:
    queue: WorkQueue[str] = WorkQueue()
    taken: list[str | None] = []
    taker = threading.Thread(target=lambda: taken.append(queue.take()))
    taker.start()
    queue.add("a", 0.05)
    taker.join(10)
    assert taken == ["a"]


def test_what_is_gone_is_not_due() -> None:
    clock = Clock()
    queue: WorkQueue[str] = WorkQueue(clock)
    queue.add("a")
    queue.forget("a")
    queue.add("b")
    assert queue.take() == "b"
