"""Take over the topics of a real Kafka Connect cluster, and give them back."""

from __future__ import annotations

import json

import pytest
from kafka.partitioner.default import murmur2

from takeover_story import (
    LATER,
    ORIGINAL,
    PARTITIONS,
    PAUSED,
    RUNNING,
    STOPPED,
    Chapter,
    Story,
    lines,
)

pytestmark = pytest.mark.heavy


def offset_keys(chapter: Chapter) -> set[bytes]:
    return set(chapter.storage["offset"])


def live_offsets(chapter: Chapter) -> list[bytes]:
    return [key for key, kept in chapter.storage["offset"].items() if kept.value is not None]


def config_of(chapter: Chapter, key: str) -> object:
    kept = chapter.storage["config"][key.encode()]
    return None if kept.value is None else json.loads(kept.value)


def test_no_line_is_lost_or_repeated(story: Story) -> None:
    assert story.values["moves"] == lines(0, 15)
    assert story.collected == lines(0, 15)


def test_no_mirrored_record_is_lost_or_repeated(story: Story) -> None:
    """Also those of a topic whose offsets we were the first to write."""
    assert story.values[ORIGINAL] == lines(0, 15)
    assert story.values[LATER] == lines(0, 5)


def test_a_paused_connector_moves_only_when_it_is_resumed(story: Story) -> None:
    assert story.values["rests"] == lines(0, 15)
    assert story.ours.found["rests"] == PAUSED
    assert story.theirs_again.found["rests"] == PAUSED


def test_altered_offsets_count_for_the_next_kind_of_worker(story: Story) -> None:
    assert story.values["stands"] == lines(0, 5) + lines(2, 5) + lines(4, 5)
    assert story.values["fresh"] == lines(1, 5)
    assert story.ours.found["stands"] == STOPPED
    assert story.theirs_again.found["stands"] == STOPPED


def test_reset_offsets_stay_reset(story: Story) -> None:
    assert story.values["cleared"] == lines(0, 5) * 3


def test_a_sink_that_kafka_connect_has_reset_stays_reset(story: Story) -> None:
    """Though we have copies of its offsets from before."""
    assert story.repeated == lines(0, 15) * 2


def test_deleted_connectors_stay_deleted(story: Story) -> None:
    kept = {"moves", "collects", "mirrors", "rests", "stands", "cleared"}
    assert set(story.ours.found) == kept | {"doomed"}
    assert story.ours.found["doomed"] == RUNNING
    assert set(story.theirs_again.found) == kept | {"fresh", "repeats"}


def test_offsets_keep_their_key_bytes(story: Story) -> None:
    """A partition under two keys would show as one of them standing still."""
    ours_alone = offset_keys(story.ours) - offset_keys(story.theirs)
    assert {json.loads(key)[0] for key in ours_alone} == {"fresh", "mirrors"}
    assert offset_keys(story.theirs) <= offset_keys(story.ours)
    assert offset_keys(story.theirs_again) == offset_keys(story.ours)


def test_every_offset_is_live_under_one_key_only(story: Story) -> None:
    for chapter in (story.theirs, story.ours, story.theirs_again):
        named = [json.dumps(json.loads(key), sort_keys=True) for key in live_offsets(chapter)]
        assert len(named) == len(set(named)) > 0


@pytest.mark.parametrize("kind", ["offset", "status"])
def test_records_are_on_the_partitions_of_java_clients(story: Story, kind: str) -> None:
    partitions = {"offset": PARTITIONS, "status": 5}[kind]
    storage = story.theirs_again.storage[kind]
    seen = {key: set(kept.partitions) for key, kept in storage.items()}
    assert seen == {key: {(murmur2(key) & 0x7FFFFFFF) % partitions} for key in storage}
    assert len({partition for found in seen.values() for partition in found}) > 1


def test_every_kind_lists_the_same_offsets(story: Story) -> None:
    """The two readers agree on the state that the other has left."""
    mirrored = [
        {"partition": {"cluster": "origin", "partition": 0, "topic": topic}, "offset": offset}
        for topic, offset in ((LATER, {"offset": 4}), (ORIGINAL, {"offset": 9}))
    ]
    found = sorted(story.ours.offsets["mirrors"], key=lambda entry: entry["partition"]["topic"])
    assert found == mirrored
    assert story.ours.offsets["moves"] == story.at("moves", 10)
    assert story.theirs_again.offsets["fresh"] == story.at("fresh", 5)


def test_stopped_is_written_as_kafka_connect_writes_it(story: Story) -> None:
    stopped = b'{"state":"PAUSED","state.v2":"STOPPED"}'
    assert story.theirs.storage["config"][b"target-state-stands"].value == stopped
    for connector in ("stands", "cleared", "fresh"):
        assert story.ours.storage["config"][f"target-state-{connector}".encode()].value == stopped
    for connector in ("stands", "cleared"):
        assert config_of(story.ours, f"commit-{connector}") == {"tasks": 0}


def test_task_configurations_are_those_of_kafka_connect(story: Story) -> None:
    for chapter in (story.ours, story.theirs_again):
        for connector in ("moves", "collects"):
            for key in (f"task-{connector}-0", f"commit-{connector}", f"connector-{connector}"):
                assert config_of(chapter, key) == config_of(story.theirs, key)


def test_tombstones(story: Story) -> None:
    deleted = {"theirs": ["gone"], "ours": ["gone", "doomed"], "theirs_again": ["gone", "doomed"]}
    for name, connectors in deleted.items():
        chapter: Chapter = getattr(story, name)
        for connector in connectors:
            assert config_of(chapter, f"connector-{connector}") is None
            assert config_of(chapter, f"target-state-{connector}") is None
            assert chapter.storage["status"][f"status-connector-{connector}".encode()].value is None


def test_generations_of_statuses_go_on(story: Story) -> None:
    generations = [
        json.loads(chapter.storage["status"][b"status-connector-moves"].value or b"")["generation"]
        for chapter in (story.theirs, story.ours, story.theirs_again)
    ]
    assert generations == sorted(set(generations))


def test_our_worker_is_refused_while_kafka_connect_is_alive(story: Story) -> None:
    text = " ".join(story.refused_ours.split())
    assert "Group 'takeover' belongs to a running Kafka Connect cluster" in text
    assert "stop those workers first" in text
    assert "another group.id" in text
    assert "Traceback" not in text


def test_kafka_connect_is_refused_while_our_worker_is_alive(story: Story) -> None:
    assert "InconsistentGroupProtocolException: The group member's supported protocols" in (
        story.refused_theirs
    )
