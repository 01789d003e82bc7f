"""One file as the target of several topics, and of several sinks."""

from __future__ import annotations

from pathlib import Path

from penstock.client import ConnectClient
from topics import Topics
from waiting import eventually


def test_lines_of_a_topic_that_is_no_longer_read_stay(
    connectors: ConnectClient, topics: Topics, name: str, tmp_path: Path
) -> None:
    """Whether the connector no longer reads it or it was deleted, though it moved last."""
    a, b, out = f"{name}-a", f"{name}-b", tmp_path / "out.txt"
    config = {"connector.class": "FileStreamSink", "file": str(out)}
    lines: list[str] = []

    def moved(topic: str) -> None:
        lines.append(f"{topic}-{len(lines)}")
        topics.produce(topic, [lines[-1].encode()])

        def committed() -> bool:
            known = {e["partition"]["kafka_topic"]: e["offset"] for e in connectors.offsets(name)}
            return known.get(topic) == {"kafka_offset": topics.end(topic)}

        eventually(committed, what=lines[-1])
        assert out.read_text().split() == lines

    topics.create(a)
    topics.create(b)
    connectors.put_config(name, {**config, "topics": f"{a},{b}"})
    moved(a)
    moved(b)
    connectors.put_config(name, {**config, "topics": a})
    moved(a)
    connectors.put_config(name, {**config, "topics": f"{a},{b}"})
    moved(b)
    topics.delete(b)
    moved(a)
    connectors.restart(name, include_tasks=True)
    moved(a)


def test_a_second_sink_of_a_file_is_refused(
    connectors: ConnectClient, topics: Topics, refused, referred, name: str, tmp_path: Path
) -> None:
    topics.create(name)
    out, other = tmp_path / "out.txt", tmp_path / "other.txt"
    (tmp_path / "link.txt").symlink_to(out)
    config = {"connector.class": "FileStreamSink", "topics": name, "file": str(out)}
    connectors.create(name, config)
    connectors.put_config(name, {**config, "tasks.max": "1"})  # it is its own
    second = f"{name}-second"
    for file in (str(out), str(tmp_path / "link.txt"), referred(file=out)["file"]):
        sent = {**config, "file": file}
        answer = refused(lambda sent=sent: connectors.create(second, sent))
        assert answer[0] == 400
        assert f"'file' is the target of connector {name}" in answer[1]
    connectors.create(second, {**config, "file": str(other)})
    assert refused(lambda: connectors.patch_config(second, {"file": str(out)}))[0] == 400
    assert connectors.config(second)["file"] == str(other)
