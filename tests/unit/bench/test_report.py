"""Results, their targets, and how they are shown and kept."""

import json

import pytest

from bench import store
from bench.report import figure, markdown, updated, write
from bench.results import ITSELF, Figure, RowResult, Target
from bench.row import Row

RESULT = RowResult(
    unit="records/s",
    sides={"penstock": [300.0, 310.0, 290.0], "loop": [330.0, 340.0, 320.0], "peer": [100.0] * 3},
    targets=[Target("loop", at_least=0.95), Target("peer", at_least=2.5)],
    notes=["A note."],
)
LATE = RowResult(
    unit="ms, p50",
    sides={"penstock": [3100.0], "peer": [2000.0]},
    targets=[Target(ITSELF, at_most=3000.0)],
    also=[
        Figure("ms, p95", {"penstock": [9.0], "peer": [6.0]}, [Target("peer", at_most=1.0)]),
        Figure("threads", {"penstock": [70.0]}, [Target(ITSELF, at_most=100.0)]),
    ],
)
MACHINE = {"cores": "2"}


def row(name: str) -> Row:
    return Row(name, f"Title of {name}", lambda _: RESULT)


@pytest.mark.parametrize(
    ("target", "ratio", "met"),
    [
        (Target("peer", at_least=0.85), 0.85, True),
        (Target("peer", at_least=0.85), 0.849, False),
        (Target("peer", at_most=3.0), 3.0, True),
        (Target("peer", at_most=3.0), 3.004, False),
        (Target("peer", at_least=1.0, at_most=2.0), 2.5, False),
    ],
)
def test_a_target_is_met_at_its_bound_and_not_beyond(target, ratio, met):
    assert target.met(ratio) is met


def test_a_target_reads_as_words():
    assert str(Target("peer", at_least=2.5)) == "at least 2.5x"
    assert str(Target("peer", at_least=1, at_most=2)) == "at least 1x and at most 2x"
    assert str(Target(ITSELF, at_most=3000)) == "at most 3,000"


def test_json_tells_every_figure_and_verdict():
    sides = json.loads(json.dumps(RESULT.as_json()))["sides"]
    assert sides["penstock"] == {
        "rounds": [300.0, 310.0, 290.0],
        "median": 300.0,
        "spread": pytest.approx(20 / 300),
    }
    assert sides["loop"]["met"] is False
    assert sides["peer"]["met"] is True
    assert sides["peer"]["ours_divided_by_this"] == pytest.approx(3.0)
    assert sides["peer"]["target"] == "at least 2.5x"


def test_the_page_has_a_line_for_every_side_and_what_bounds_the_row():
    stored = store.with_row({"machine": MACHINE, "rows": {}}, row("copy"), RESULT, ["copy"])
    page = markdown(stored, {"copy": "The broker bounds it."})
    assert "## copy: Title of copy, records/s" in page
    assert "| loop | 330 | 6% | 0.91 | 0.91 0.91 0.91 | at least 0.95x | missed |" in page
    assert "| peer | 100 | 0% | 3.00 | 3.00 3.10 2.90 | at least 2.5x | met |" in page
    assert "- cores: 2" in page
    assert "- A note.\n- The broker bounds it.\n" in page


def test_a_row_has_several_figures_with_targets_of_their_own_and_bounds_on_ours() -> None:
    stored = store.with_row({"machine": MACHINE, "rows": {}}, row("late"), LATE, ["late"])
    page = markdown(stored, {})
    assert "| penstock | 3,100 | 0% |  |  | at most 3,000 | missed |" in page
    assert "| peer | 2,000 | 0% | 1.55 | 1.55 |  |  |" in page
    assert "| ms, p95: penstock | 9 | 0% |  |  |  |  |" in page
    assert "| ms, p95: peer | 6 | 0% | 1.50 | 1.50 | at most 1x | missed |" in page
    assert "| threads: penstock | 70 | 0% |  |  | at most 100 | met |" in page


def test_the_page_begins_with_the_goals_that_were_missed_and_what_bounds_their_rows() -> None:
    stored = {"machine": MACHINE, "rows": {}}
    for name, result in (("copy", RESULT), ("late", LATE)):
        stored = store.with_row(stored, row(name), result, ["copy", "late"])
    page = markdown(stored, {"copy": "The broker bounds it.", "late": "Planning bounds it."})
    listed = page.split("## Goals missed, and why\n\n")[1].split("\n## ")[0]
    assert listed.splitlines() == [
        "- copy: 0.91x loop, at least 0.95x wanted. The broker bounds it.",
        "- late: penstock 3,100, at most 3,000 wanted; 1.50x ms, p95: peer, at most 1x wanted. "
        "Planning bounds it.",
    ]


def test_goals_missed_in_earlier_runs_stay_in_the_list_until_they_are_met() -> None:
    missed = store.with_row({"machine": MACHINE, "rows": {}}, row("late"), LATE, ["late"])
    other = store.with_row({"machine": MACHINE, "rows": {}}, row("peer"), LATE, ["peer"])
    both = updated(markdown(missed, {}), other, {}, ["late", "peer"])
    assert [line[:7] for line in both.splitlines() if line.startswith("- ")][1:] == [
        "- late:",
        "- peer:",
    ]
    met = RowResult("s", {"penstock": [1.0]}, [Target(ITSELF, at_most=2.0)])
    again = {"machine": MACHINE, "rows": {}}
    for name in ("late", "peer"):
        again = store.with_row(again, row(name), met, ["late", "peer"])
    assert "None: every target below is met." in updated(both, again, {}, ["late", "peer"])


@pytest.mark.parametrize(
    ("value", "shown"), [(1234567.8, "1,234,568"), (99.94, "99.9"), (0.01234, "0.0123")]
)
def test_figures_have_three_digits_or_all_before_the_point(value, shown):
    assert figure(value) == shown


def test_one_row_measured_again_leaves_the_others(tmp_path):
    stored = store.read(tmp_path, MACHINE)
    for name in ("second", "first", "second"):
        stored = store.with_row(stored, row(name), RESULT, ["first", "second"])
        write(tmp_path, stored, "page")
        stored = store.read(tmp_path, MACHINE)
    assert list(stored["rows"]) == ["first", "second"]
    assert (tmp_path / "results.md").read_text() == "page"


def test_figures_of_another_machine_are_not_mixed_in(tmp_path):
    stored = store.with_row(store.read(tmp_path, MACHINE), row("copy"), RESULT, ["copy"])
    write(tmp_path, stored, "page")
    assert store.read(tmp_path, {"cores": "4"}) == {"machine": {"cores": "4"}, "rows": {}}


def test_rows_that_were_not_measured_again_stay_on_the_page_with_their_processor() -> None:
    row = {"title": "T", "unit": "s", "measured": "then", "sides": {}, "notes": ["N"]}
    first = markdown({"machine": {"processor": "X"}, "rows": {"a": row, "c": row}}, {})
    again = {
        "machine": {"processor": "Y", "cores": "4"},
        "rows": {"b": row, "c": {**row, "measured": "now"}},
    }
    page = updated(first, again, {}, ["a", "b", "c"])
    named = [line for line in page.splitlines() if line.startswith(("## ", "Measured", "- cores"))]
    assert named == [
        "- cores: 4",
        "## Goals missed, and why",
        *("## a: T, s", "Measured then on X."),
        *("## b: T, s", "Measured then on Y."),
        *("## c: T, s", "Measured now on Y."),
    ]
