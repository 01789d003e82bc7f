"""Avro and JSON Schema on a real worker, with a real schema registry."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Message
from confluent_kafka.serialization import MessageField, SerializationContext

from files import lines_of
from free_ports import free_port
from penstock.client import ConnectClient
from penstock.registry.registry import client_library
from topics import Topics
from waiting import eventually

pytestmark = pytest.mark.heavy

RECORDS = 50
SCHEMA = {
    "type": "record",
    "name": "acme.Order",
    "fields": [
        {
            "name": "id",
            "type": {"type": "long", "arg.properties": {"iteration": {"start": 0}}},
        },
        {"name": "item", "type": {"type": "string", "arg.properties": {"options": ["tea", "jam"]}}},
    ],
}
CONVERTERS = {
    "avro": "io.confluent.connect.avro.AvroConverter",
    "json": "io.confluent.connect.json.JsonSchemaConverter",
}


def converter(form: str, url: str) -> dict[str, str]:
    """Keys and values in the same form."""
    chosen = {side: f"{side}.converter" for side in ("key", "value")}
    classes = dict.fromkeys(chosen.values(), CONVERTERS[form])
    return classes | {f"{key}.schema.registry.url": url for key in chosen.values()}


def generated(connectors: ConnectClient, name: str, keys: dict[str, str]) -> None:
    config = {
        "connector.class": "DatagenSource",
        "kafka.topic": name,
        "schema.string": json.dumps(SCHEMA),
        "schema.keyfield": "id",
        "max.interval": "0",
        "iterations": str(RECORDS),
    }
    connectors.create(f"{name}-source", {**config, **keys})


def read_by_another(form: str, url: str, messages: list[Message]) -> list[Any]:
    """As Confluent's own deserializers read the values."""
    if form == "json":
        # Theirs needs a package that is not installed here.
        return [json.loads((message.value() or b"")[5:]) for message in messages]
    client_library()
    from confluent_kafka.schema_registry.avro import AvroDeserializer

    client = client_library().SchemaRegistryClient({"url": url})
    read = AvroDeserializer(client)
    context = SerializationContext(messages[0].topic() or "", MessageField.VALUE)
    return [read(message.value(), context) for message in messages]


@pytest.mark.parametrize("form", ["avro", "json"])
def test_from_a_source_to_a_sink(
    connectors: ConnectClient,
    topics: Topics,
    name: str,
    tmp_path: Path,
    schema_registry: str,
    form: str,
) -> None:
    """Bad records are letters with their place, and all others arrive as they were made."""
    keys = converter(form, schema_registry)
    topics.create(name)
    generated(connectors, name, keys)
    eventually(lambda: len(topics.messages(name)) == RECORDS, what="the records")
    messages = topics.messages(name)
    seen = read_by_another(form, schema_registry, messages)
    assert [each["id"] for each in seen] == list(range(RECORDS))
    subjects = client_library().SchemaRegistryClient({"url": schema_registry}).get_subjects()
    assert {f"{name}-key", f"{name}-value"} <= set(subjects)

    known = (messages[0].value() or b"")[:5]
    end = topics.end(name)
    topics.produce(name, [b"\0\x7f\0\0\0no such id", known + b"\xff\xff", b"plain"])
    config = {
        "connector.class": "CollectingSink",
        "topics": name,
        "out": str(tmp_path),
        "errors.tolerance": "all",
        "errors.deadletterqueue.topic.name": f"{name}-dead",
        "errors.deadletterqueue.topic.replication.factor": "1",
        "errors.deadletterqueue.context.headers.enable": "true",
    }
    connectors.create(f"{name}-sink", {**config, **keys})
    eventually(lambda: len(topics.messages(f"{name}-dead")) == 3, what="the letters")
    eventually(lambda: len(lines_of(tmp_path / "task-0.jsonl")) == RECORDS, what="the rest")
    rows = [json.loads(line) for line in lines_of(tmp_path / "task-0.jsonl")]
    assert [row["value"] for row in rows] == seen
    assert [row["key"] for row in rows] == list(range(RECORDS))
    letters = [dict(m.headers() or []) for m in topics.messages(f"{name}-dead")]
    places = {letter["__connect.errors.offset"] for letter in letters}
    assert places == {str(end + n).encode() for n in range(3)}
    assert {letter["__connect.errors.class.name"] for letter in letters} == {
        CONVERTERS[form].encode()
    }


def test_a_registry_that_does_not_answer_is_told_in_the_status(
    connectors: ConnectClient, topics: Topics, name: str
) -> None:
    url = f"http://127.0.0.1:{free_port()}"
    login = {
        "value.converter.basic.auth.credentials.source": "USER_INFO",
        "value.converter.basic.auth.user.info": "me:geheim",
    }
    topics.create(name)
    generated(connectors, name, {**converter("avro", url), **login})
    source = f"{name}-source"

    def failed() -> bool:
        tasks = connectors.status(source)["tasks"]
        return bool(tasks) and tasks[0]["state"] == "FAILED"

    eventually(failed, what="the failure")
    trace = connectors.task_status(source, 0)["trace"]
    assert f"The schema registry at {url} does not answer" in trace
    shown = f"{connectors.info(source)} {connectors.status(source)}"
    assert "geheim" not in shown
    assert "[hidden]" in str(connectors.config(source))


def test_the_converters_are_listed_with_their_keys(client: ConnectClient) -> None:
    listed = {(each["class"], each["type"]) for each in client.plugins(connectors_only=False)}
    for class_name in CONVERTERS.values():
        assert (class_name, "converter") in listed
        keys = {key["name"]: key["type"] for key in client.plugin_config(class_name)}
        assert keys["schema.registry.url"] == "LIST"
        assert keys["basic.auth.user.info"] == "PASSWORD"
