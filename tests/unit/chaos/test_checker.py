"""What the checker of `make chaos` finds, and what it lets pass."""

from __future__ import annotations

import pytest

from chaos.checker import Jump, compare, divided, numbers_read, spread

LINES = [f"src-{number}" for number in range(10)]


def kinds(found, wanted=LINES, least=None):
    least = len(wanted) if least is None else least
    return [finding.kind for finding in compare("here", found, wanted, least)]


@pytest.mark.parametrize(
    ("jumps", "numbers"),
    [
        ([], [0, 1, 2, 3, 4]),
        ([Jump(3, 1)], [0, 1, 2, 1, 2, 3, 4]),
        ([Jump(3, 1), Jump(2, 0)], [0, 1, 2, 1, 0, 1, 2, 3, 4]),
        ([Jump(2, 2)], [0, 1, 2, 3, 4]),
        ([Jump(1, 4)], [0, 4]),
    ],
)
def test_a_reader_goes_where_its_offset_was_altered_to(jumps, numbers) -> None:
    assert numbers_read(5, jumps) == numbers


def test_what_came_out_as_it_went_in_is_right() -> None:
    assert kinds(LINES) == []


def test_what_is_not_due_yet_may_be_missing_or_there() -> None:
    assert kinds(LINES[:7], least=7) == []
    assert kinds(LINES[:8], least=7) == []


def test_what_is_due_and_missing_is_lost() -> None:
    assert kinds(LINES[:6], least=7) == ["lost"]
    assert kinds([]) == ["lost"]


@pytest.mark.parametrize("gap", [0, 4, 8])
def test_a_line_left_out_is_lost(gap: int) -> None:
    assert kinds(LINES[:gap] + LINES[gap + 1 :]) == ["lost"]


def test_a_line_left_out_that_is_not_due_yet_is_out_of_order() -> None:
    assert kinds(LINES[:7] + LINES[8:], least=5) == ["order"]


@pytest.mark.parametrize("again", [0, 5, 9])
def test_a_line_too_many_is_there_twice(again: int) -> None:
    assert kinds([*LINES[: again + 1], *LINES[again:]]) == ["twice"]
    assert kinds([*LINES, LINES[again]]) == ["twice"]


def test_lines_that_have_changed_places_are_out_of_order() -> None:
    assert kinds([*LINES[:4], LINES[5], LINES[4], *LINES[6:]]) == ["order"]


def test_a_line_cut_short_is_lost_and_what_is_left_of_it_foreign() -> None:
    assert kinds([*LINES[:4], "src", *LINES[5:]]) == ["lost", "foreign"]


def test_a_replay_is_right_only_where_and_as_far_as_the_offset_was_altered() -> None:
    wanted = [LINES[number] for number in numbers_read(10, [Jump(6, 3)])]
    assert kinds(wanted, wanted) == []
    assert kinds(LINES, wanted) == ["lost"]
    assert kinds([*LINES[:6], *LINES[2:]], wanted) == ["twice"]
    assert kinds([*LINES[:6], *LINES[4:]], wanted) == ["lost"]
    assert kinds([*LINES[:7], *LINES[3:6], *LINES[7:]], wanted) == ["order"]


def test_lines_dealt_out_among_partitions() -> None:
    def kinds_of(*parts, least=10):
        return [finding.kind for finding in spread("here", parts, LINES, least)]

    assert kinds_of(LINES[::2], LINES[1::2]) == []
    assert kinds_of(LINES, []) == []
    assert kinds_of(LINES[:4], LINES[4:8], least=8) == []
    assert kinds_of(LINES[:4], LINES[5:]) == ["lost"]
    assert kinds_of(LINES[:6], LINES[5:]) == ["twice"]
    assert kinds_of(LINES[:5][::-1], LINES[5:]) == ["order"]


def test_lines_of_several_partitions_in_one_file() -> None:
    owners = {"a-1": "a", "a-2": "a", "b-1": "b"}
    parts, strangers = divided("here", ["a-1", "b-1", "a-2", "b-1"], owners)
    assert parts == {"a": ["a-1", "a-2"], "b": ["b-1", "b-1"]}
    assert strangers == []
    assert [each.kind for each in divided("here", ["a-1", "a"], owners)[1]] == ["foreign"]


def test_a_finding_quotes_a_few_lines() -> None:
    (finding,) = compare("topic-a", [], LINES, 10)
    assert str(finding) == "lost in topic-a: 10 entries: 'src-0', 'src-1', 'src-2' … 'src-9'"
