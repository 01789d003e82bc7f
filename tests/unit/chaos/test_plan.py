"""Which faults strike: a seed repeats them, and every kind has its turn."""

from __future__ import annotations

from itertools import islice

from chaos.faults import STRIKES
from chaos.plan import KIND_NAMES, KINDS, rounds_of


def test_a_seed_repeats_its_faults() -> None:
    assert list(islice(rounds_of(7), 50)) == list(islice(rounds_of(7), 50))
    assert list(islice(rounds_of(7), 5)) != list(islice(rounds_of(8), 5))


def test_every_kind_has_its_turn() -> None:
    faults = [fault for each in islice(rounds_of(1), 2 * len(KINDS)) for fault in each]
    assert {fault.kind for fault in faults} == set(KIND_NAMES)


def test_two_at_once_strike_different_targets() -> None:
    pairs = [each for each in islice(rounds_of(2), 200) if len(each) == 2]
    assert pairs
    assert all(first.target != second.target for first, second in pairs)


def test_only_the_kinds_that_are_wanted() -> None:
    wanted = ("pause", "worker-kill")
    assert {f.kind for each in islice(rounds_of(3, wanted), 20) for f in each} == set(wanted)


def test_there_is_a_way_to_strike_for_every_kind() -> None:
    assert set(STRIKES) == set(KIND_NAMES)
