"""KLIP-7's connector statements, and those beyond it, typed at any worker of Kafka Connect."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.client import ConnectClient
from penstock.sdk.errors import PenstockError
from penstock.sql.errors import SqlError
from topics import Topics
from typing_sql import Typing
from waiting import eventually

# As KLIP-7 spells a class: with a small letter where there is a capital one.
SOURCE = "org.apache.kafka.connect.file.fileStreamSourceConnector"
SINK = "org.apache.kafka.connect.file.FileStreamSinkConnector"
RULE = "-" * 14
LINES = '{"n": 1}\n{"n": 2}\n'


def tell(typed: Typing, client: ConnectClient, topics: Topics, name: str, folder: Path) -> None:
    """The whole story; ``name`` is a prefix for everything it makes."""
    source, sink, lines = f"{name}-source", f"{name}-sink", folder / "in.txt"
    lines.write_text(LINES)
    _create(typed, topics, source, sink, name, folder)
    eventually((folder / "out.txt").exists, what="the sink's file", within=60)
    eventually(lambda: (folder / "out.txt").read_text() == LINES, what="lines", within=60)
    _show(typed, client, source, sink, name)
    _change(typed, client, source, lines)
    _shipped(typed, f"{name}-more", name, folder)
    _refuse(typed, source, sink)
    _drop(typed, client, topics, source, sink, name)


def _create(
    typed: Typing, topics: Topics, source: str, sink: str, topic: str, folder: Path
) -> None:
    topics.create(topic)
    made = typed(
        f"""CREATE EXTERNAL SOURCE {source} WITH ( \\
          connector.class="{SOURCE}", \\
          tasks.max=1, \\
          value.converter=org.apache.kafka.connect.storage.StringConverter, \\
          file={folder}/in.txt, \\
          topic={topic});"""
    )
    assert made == f"\n{RULE}\nSOURCE CREATED\n{RULE}\n"
    typed(
        f"CREATE STREAM {_stream(topic)} (line VARCHAR) "
        f"WITH (KAFKA_TOPIC='{topic}', VALUE_FORMAT='KAFKA');"
    )
    made = typed(
        f"CREATE EXTERNAL SINK {sink} FROM {_stream(topic)} "
        f"WITH (connector.class={SINK}, file='{folder}/out.txt');"
    )
    assert made == f"\n{RULE}\nSINK CREATED\n{RULE}\n"


def _stream(topic: str) -> str:
    return "stream_" + topic.replace("-", "_")


def _cells(text: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.split("|")] for line in text.splitlines()]


def _show(typed: Typing, client: ConnectClient, source: str, sink: str, topic: str) -> None:
    eventually(
        lambda: "RUNNING (1/1 tasks RUNNING)" in typed("SHOW SOURCE CONNECTORS;"), what="a task"
    )
    class_name = str(client.info(source)["config"]["connector.class"])
    assert class_name == SOURCE.replace(".file.f", ".file.F")
    assert [source, class_name, topic] in _cells(typed("SHOW EXTERNAL SOURCES;"))
    assert [sink, SINK, topic] in _cells(typed("SHOW EXTERNAL SINKS;"))
    assert client.info(sink)["config"]["value.converter"].endswith("StringConverter")
    described = _cells(typed(f"DESCRIBE {source};"))
    assert [f"connector: {class_name}"] in described
    assert ["worker id", "task", "status"] in described
    eventually(
        lambda: [topic, topic, "n BIGINT"] in _cells(typed(f"DESCRIBE {source};")), what="a schema"
    )
    eventually(lambda: [topic, topic] in _cells(typed(f"DESCRIBE {sink};")), what="its topic")
    shipped = typed(f"DESCRIBE CONNECTOR {source};")
    assert [_stream(topic).upper(), topic, "STREAM"] in _cells(shipped)
    assert "FileStreamSourceConnector" in typed("SHOW CONNECTOR PLUGINS;")
    made = typed(f"CREATE STREAM numbers FROM SOURCE CONNECTOR {source};")
    assert "STREAM CREATED" in made
    assert f"NUMBERS over topic {topic}: N BIGINT" in made
    typed("DROP STREAM numbers;")
    assert source in client.connectors(), "dropping a stream leaves the connector"


def _change(typed: Typing, client: ConnectClient, source: str, lines: Path) -> None:
    typed(f"ALTER CONNECTOR {source} SET (batch.size = 100);")
    assert client.info(source)["config"]["batch.size"] == "100"
    for verb, state in (("PAUSE", "PAUSED"), ("RESUME", "RUNNING"), ("STOP", "STOPPED")):
        typed(f"{verb} CONNECTOR {source};")
        eventually(lambda: f" {state}" in typed("SHOW SOURCE CONNECTORS;"), what=state, within=60)  # noqa: B023 (done with in this turn)
    eventually(
        lambda: f'"position": {len(LINES)}' in typed(f"SHOW CONNECTOR OFFSETS {source};"),
        what="the end of the file",
    )
    partition = f'{{"filename": "{lines}"}}'
    typed(f"""ALTER CONNECTOR {source} OFFSETS PARTITION '{partition}' TO '{{"position": 4}}';""")
    assert client.offsets(source)[0]["offset"] == {"position": 4}
    typed(f"RESET CONNECTOR OFFSETS {source};")
    assert client.offsets(source) == []
    typed(f"RESUME CONNECTOR {source}; RESTART CONNECTOR {source} INCLUDE TASKS;")


def _shipped(typed: Typing, more: str, topic: str, folder: Path) -> None:
    """What KLIP-7 has no words for, in ksqlDB's grammar and ours."""
    info, offsets = typed.home.connect.info, typed.home.connect.offsets
    create = (
        f"CREATE SINK CONNECTOR IF NOT EXISTS {more} WITH ('connector.class' = '{SINK}', "
        f"'topics' = '{topic}', 'file' = '{folder}/more.txt', 'errors.log.enable' = true);"
    )
    assert f"Created connector {more}" in typed(create)
    assert f"Warning: Connector {more} already exists" in typed(create)
    running = [more, "SINK", SINK, "RUNNING (1/1 tasks RUNNING)"]
    eventually(lambda: running in _cells(typed("SHOW CONNECTORS;")), what="a task", within=60)
    eventually((folder / "more.txt").exists, what="its file", within=60)
    written = (folder / "more.txt").read_text
    eventually(lambda: written().startswith(LINES), what="lines", within=60)
    assert more not in typed("SHOW SOURCE CONNECTORS;")
    typed(f"ALTER CONNECTOR {more} UNSET ('errors.log.enable');")
    eventually(lambda: "errors.log.enable" not in info(more)["config"], what="the change")
    typed(f"RESTART CONNECTOR {more} INCLUDE TASKS ONLY FAILED; STOP CONNECTOR {more};")
    eventually(
        lambda: [more, "SINK", SINK, "STOPPED"] in _cells(typed("SHOW SINK CONNECTORS;")),
        what="STOPPED",
        within=60,
    )
    eventually(lambda: len(offsets(more)) == 1, what="its offset", within=60)
    partition = f'{{"kafka_topic": "{topic}", "kafka_partition": 0}}'
    typed(f"ALTER CONNECTOR {more} OFFSETS PARTITION '{partition}' TO NULL;")
    assert offsets(more) == []
    dropped = typed(f"DROP EXTERNAL SINK {more};")
    assert dropped == f"\n{RULE}\nSINK DROPPED\n{RULE}\n", "it was stopped, so without TERMINATE"
    assert f"Connector '{more}' does not exist" in typed(f"DROP CONNECTOR IF EXISTS {more};")


def _refuse(typed: Typing, source: str, sink: str) -> None:
    with pytest.raises(SqlError, match="already exists"):
        typed(f"CREATE SOURCE CONNECTOR {source} WITH (connector.class={SOURCE});")
    with pytest.raises(SqlError, match=r"Validation error:\n.*topic - "):
        typed(f"CREATE SOURCE CONNECTOR {source}-2 WITH (connector.class={SOURCE}, file=/x);")
    with pytest.raises(SqlError, match="Did you mean org"):
        typed(f"CREATE SOURCE CONNECTOR {source}-2 WITH (connector.class=a.FileStreamSource);")
    with pytest.raises(SqlError, match=f"{sink} is a sink"):
        typed(f"DROP EXTERNAL SOURCE {sink} TERMINATE;")
    with pytest.raises(SqlError, match="There is no stream or table nothing"):
        typed(f"CREATE EXTERNAL SINK {sink}-2 FROM nothing WITH (connector.class={SINK}, file=/x);")
    with pytest.raises(SqlError, match="Add TERMINATE"):
        typed(f"DROP EXTERNAL SINK {sink};")
    with pytest.raises(PenstockError):  # Kafka Connect's own refusal: it runs
        typed(f"RESET CONNECTOR OFFSETS {sink};")


def _drop(
    typed: Typing, client: ConnectClient, topics: Topics, source: str, sink: str, topic: str
) -> None:
    dropped = typed(f"DROP EXTERNAL SOURCE {source} TERMINATE;")
    assert dropped == f"\n{RULE}\nSOURCE DROPPED\n{RULE}\n"
    assert f'Dropped connector "{sink}"' in typed(f"DROP CONNECTOR {sink};")
    assert not {source, sink} & set(client.connectors())
    assert _stream(topic).upper() in typed("SHOW STREAMS;"), "dropping connectors leaves streams"
    assert topics.end(topic) > 0, "and topics"
