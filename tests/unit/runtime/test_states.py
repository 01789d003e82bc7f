"""States in Kafka Connect's words."""

from __future__ import annotations

import pytest

from penstock.runtime.states import State, Target


@pytest.mark.parametrize(
    ("asked", "target"),
    [
        (None, Target.STARTED),
        ("RUNNING", Target.STARTED),
        ("PAUSED", Target.PAUSED),
        ("STOPPED", Target.STOPPED),
    ],
)
def test_the_target_that_an_initial_state_means(asked: str | None, target: Target) -> None:
    assert Target.initial(asked) is target


def test_an_initial_state_that_nobody_knows() -> None:
    with pytest.raises(ValueError, match="FAILED"):
        Target.initial("FAILED")


def test_states_print_as_kafka_connect_writes_them() -> None:
    assert [f"{state}" for state in State] == [
        "UNASSIGNED",
        "RUNNING",
        "PAUSED",
        "FAILED",
        "RESTARTING",
        "STOPPED",
    ]
