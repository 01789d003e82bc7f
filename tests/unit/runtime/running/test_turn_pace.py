"""How much a frame turn reads, and how long its connector pauses."""

from __future__ import annotations

from penstock.runtime.running.turn_pace import FEWEST, FIRST, LONGEST_PAUSE, MOST, SMALL, TurnPace


def test_turns_grow_while_there_is_more_to_read_and_they_are_short() -> None:
    pace = TurnPace()
    pace.done(FIRST, 0.5, left=True)
    assert pace.most == 2 * FIRST
    for _ in range(20):
        pace.done(pace.most, 0.5, left=True)
    assert pace.most == MOST


def test_turns_that_take_all_there_is_do_not_grow() -> None:
    pace = TurnPace()
    pace.done(10, 0.5, left=False)
    assert pace.most == FIRST


def test_long_turns_shrink_to_what_can_be_done_in_time() -> None:
    pace = TurnPace(most=100_000)
    pace.done(100_000, 40.0, left=True)
    assert pace.most == 25_000
    pace.done(25_000, 400.0, left=True)
    assert pace.most == FEWEST


def test_a_long_turn_over_little_does_not_make_turns_longer() -> None:
    pace = TurnPace(most=6_000)
    pace.done(5_999, 10.1, left=True)
    assert pace.most <= 6_000


def test_a_busy_machine_does_not_make_turns_smaller_and_smaller() -> None:
    """Whatever they move, they take eight seconds."""
    pace = TurnPace()
    for _ in range(20):
        pace.done(pace.most, 8.0, left=True)
    assert pace.most == FIRST


def test_the_pause_grows_with_the_cost_of_a_turn_that_has_left_nothing() -> None:
    pace = TurnPace()
    pace.done(10, 0.2, left=False)
    cheap = pace.pause
    pace.done(10, 0.6, left=False)
    assert 0 < cheap < pace.pause
    pace.done(10, 60.0, left=False)
    assert pace.pause == LONGEST_PAUSE
    pace.done(10, 0.6, left=True)
    assert pace.pause == 0.0


def test_records_that_are_too_large_for_the_worker_are_tried_less() -> None:
    pace = TurnPace()
    pace.through_worker(100, fitted=False)
    assert pace.small == 50
    pace.through_worker(1, fitted=False)
    assert pace.small == 1
    for _ in range(20):
        pace.through_worker(1, fitted=True)
    assert pace.small == SMALL


def test_a_lost_turn_makes_the_next_one_smaller() -> None:
    pace = TurnPace(most=6_000)
    pace.lost()
    assert pace.most == FEWEST
