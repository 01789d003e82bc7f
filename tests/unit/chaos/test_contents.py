"""The checker over all files and topics of a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from chaos.alterations import Alterations
from chaos.checker import Jump
from chaos.contents import FILE, Judgement, Seen, lines_of
from chaos.load import LINE_BYTES, line_of, number_of

COUNT = 12


def lines(source: str) -> list[str]:
    return [line_of(source, number) for number in range(COUNT)]


@pytest.fixture
def seen() -> Seen:
    """A run without fault: an offset out of three is a transaction's marker."""
    a, b, c = lines("src-a"), lines("src-b"), lines("src-c")
    topics = {"topic-a-0": a, "topic-b-0": b, "topic-c-0": c[::2], "topic-c-1": c[1::2]}
    offsets = {key: [n + n // 2 for n in range(len(part))] for key, part in topics.items()}
    mixed = [line for pair in zip(a, b, strict=True) for line in pair]
    outputs = {"sink-a": list(a), "sink-ab": mixed, "sink-c": list(c)}
    inputs = {"src-a": list(a), "src-b": list(b), "src-c": list(c)}
    return Seen(inputs, {key: list(part) for key, part in topics.items()}, offsets, outputs)


def findings(seen: Seen, alterations: Alterations | None = None, newest: int = COUNT) -> list[str]:
    found = Judgement(seen, alterations or Alterations(), newest).findings()
    return [f"{each.kind} in {each.where}" for each in found]


def test_a_run_without_fault(seen: Seen) -> None:
    assert findings(seen) == []


def test_a_line_that_is_not_in_its_topic(seen: Seen) -> None:
    del seen.lines["topic-c-1"][2]
    assert "lost in topic-c" in findings(seen)


def test_a_record_that_is_not_in_a_file(seen: Seen) -> None:
    seen.outputs["sink-ab"].remove(line_of("src-b", 3))
    assert findings(seen) == ["lost in sink-ab, topic-b-0"]


def test_a_record_twice_in_a_file(seen: Seen) -> None:
    seen.outputs["sink-a"].append(line_of("src-a", 3))
    assert findings(seen) == ["twice in sink-a, topic-a-0"]


def test_a_torn_line(seen: Seen) -> None:
    seen.outputs["sink-c"].append("src-c-000")
    assert findings(seen) == ["foreign in sink-c"]


def test_what_is_newer_than_what_is_due_may_be_on_its_way(seen: Seen) -> None:
    seen.lines["topic-a-0"].pop()
    for sink in ("sink-a", "sink-ab"):
        seen.outputs[sink].remove(line_of("src-a", COUNT - 1))
    seen.outputs["sink-a"].pop()
    assert findings(seen, newest=COUNT - 2) == []
    assert "lost in topic-a" in findings(seen)


def test_a_replay_of_a_source_is_in_its_topic_and_in_the_files(seen: Seen) -> None:
    again = lines("src-a")[5:9]
    seen.lines["topic-a-0"][9:9] = again
    seen.offsets["topic-a-0"][:] = range(COUNT + 4)
    for sink in ("sink-a", "sink-ab"):
        place = seen.outputs[sink].index(line_of("src-a", 9))
        seen.outputs[sink][place:place] = again
    altered = Alterations()
    altered.add("src-a", FILE, Jump(9, 5))
    assert findings(seen, altered) == []
    assert findings(seen) == ["twice in topic-a"]


def test_a_replay_of_a_sink_is_in_its_file_alone(seen: Seen) -> None:
    # Offset 12 is the ninth record and offset 4 the marker before the fourth.
    again = [line for line in seen.outputs["sink-ab"] if line.startswith("src-b")][3:8]
    place = seen.outputs["sink-ab"].index(line_of("src-b", 8))
    seen.outputs["sink-ab"][place:place] = again
    altered = Alterations()
    altered.add("sink-ab", "topic-b-0", Jump(12, 4))
    assert findings(seen, altered) == []
    assert findings(seen) == ["twice in sink-ab, topic-b-0"]
    too_little = Alterations()
    too_little.add("sink-ab", "topic-b-0", Jump(12, 3))
    assert findings(seen, too_little) == ["lost in sink-ab, topic-b-0"]


def test_only_whole_lines_are_read(tmp_path: Path) -> None:
    file = tmp_path / "lines"
    assert lines_of(file) == []
    file.write_text("one\ntwo\nthr")
    assert lines_of(file) == ["one", "two"]


def test_lines_are_of_one_length() -> None:
    assert len(line_of("src-a", 0)) == len(line_of("src-a", 99_999_999)) == LINE_BYTES - 1
    assert number_of(3 * LINE_BYTES) == 3
    with pytest.raises(ValueError, match="No line begins at byte 7"):
        number_of(7)
