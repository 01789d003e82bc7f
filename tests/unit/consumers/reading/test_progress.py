"""What counts as handed out, and what as done."""

from __future__ import annotations

from collections.abc import Sequence

from confluent_kafka import Message
from hypothesis import given
from hypothesis import strategies as st

from penstock.consumers.reading.progress import Batch, Progress


def batch(*places: tuple[int, int], ends: dict[int, int] | None = None) -> Batch:
    messages = [Message(topic="t", partition=p, offset=o) for p, o in places]
    return Batch(messages, ends or {})


def of(progress: Progress) -> Batch:
    assert isinstance(progress.batch, Batch)
    return progress.batch


def hand_out(progress: Progress, count: int) -> None:
    records = of(progress).records()
    for _ in range(count):
        next(records)


def test_automatic_commits_are_one_behind() -> None:
    progress = Progress({0: 5, 1: 7}, automatic=True)
    progress.next_batch(batch((0, 5), (1, 7), (1, 8), (0, 6)))
    assert progress.committed() == {0: 5, 1: 7}
    for done in ({0: 5, 1: 7}, {0: 6, 1: 7}, {0: 6, 1: 8}, {0: 6, 1: 9}):
        hand_out(progress, 1)
        assert progress.committed() == done
    progress.next_batch(batch())
    assert progress.committed() == {0: 7, 1: 9}


def test_manual_commits_move_only_when_told_and_never_back() -> None:
    progress = Progress({0: 0}, automatic=False)
    progress.next_batch(batch((0, 0), (0, 1), (0, 2)))
    hand_out(progress, 2)
    progress.asked_for_more()
    assert progress.committed() == {0: 0}
    progress.commit()
    assert progress.committed() == {0: 2}
    progress.commit({0: 1})
    assert progress.committed() == {0: 2}
    progress.next_batch(batch())
    assert progress.committed() == {0: 2}


def test_markers_behind_the_last_record_count_once_it_is_done() -> None:
    progress = Progress({0: 0}, automatic=True)
    progress.next_batch(batch((0, 0), ends={0: 4}))
    hand_out(progress, 1)
    assert progress.committed() == {0: 0}
    progress.asked_for_more()
    assert progress.committed() == {0: 4}


def test_partitions_come_and_go() -> None:
    progress = Progress({}, automatic=True)
    progress.begin({0: 3, 1: 4})
    progress.next_batch(batch((0, 3)))
    hand_out(progress, 1)
    progress.asked_for_more()
    progress.drop({0, 1})
    assert progress.committed() == {}
    progress.begin({1: 9})
    assert progress.handed_out() == {1: 9}


@given(
    st.lists(st.lists(st.integers(0, 2), max_size=6), max_size=6),
    st.booleans(),
    st.data(),
)
def test_nothing_is_committed_that_was_not_handed_out(
    batches: Sequence[Sequence[int]], automatic: bool, data: st.DataObject
) -> None:
    progress = Progress({0: 0, 1: 0, 2: 0}, automatic=automatic)
    following = {0: 0, 1: 0, 2: 0}
    seen: list[tuple[int, int]] = []
    for partitions in batches:
        places = []
        for partition in partitions:
            places.append((partition, following[partition]))
            following[partition] += 1
        progress.next_batch(batch(*places))
        for place in places:
            hand_out(progress, 1)
            seen.append(place)
            if not automatic and data.draw(st.booleans()):
                progress.commit()
            done = {p: sum(1 for q, _ in seen if q == p) for p in range(3)}
            if automatic:
                done[seen[-1][0]] -= 1
                assert progress.committed() == done
            assert all(progress.committed()[p] <= done[p] for p in range(3))


def test_records_handed_out_together_are_done_together() -> None:
    progress = Progress({0: 0}, automatic=True)
    progress.next_batch(batch(*((0, offset) for offset in range(6))))
    assert [record.offset for record in of(progress).take(2)] == [0, 1]
    assert progress.committed() == {0: 0}
    progress.asked_for_more()
    assert progress.committed() == {0: 2}
    assert [record.offset for record in of(progress).take()] == [2, 3, 4, 5]
    assert progress.committed() == {0: 2}
    progress.next_batch(batch())
    assert progress.committed() == {0: 6}


def test_one_by_one_and_together_by_turns() -> None:
    progress = Progress({0: 0}, automatic=True)
    progress.next_batch(batch(*((0, offset) for offset in range(6))))
    hand_out(progress, 1)
    progress.asked_for_more()
    of(progress).take(3)
    assert progress.committed() == {0: 1}
    progress.asked_for_more()
    hand_out(progress, 1)
    assert progress.committed() == {0: 4}


def test_what_is_left_of_a_batch_is_not_handed_out() -> None:
    progress = Progress({0: 0}, automatic=False)
    progress.next_batch(batch((0, 0), (0, 1), (0, 2), ends={0: 9}))
    of(progress).take(2)
    progress.commit()
    assert progress.committed() == {0: 2}
