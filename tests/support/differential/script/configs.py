"""Configurations that are refused, and names."""

from __future__ import annotations

from typing import Any

from differential.steps import Ask, Step, delete, gone, post, put, states

CREATE = "/connectors"
NAME = "{s}-refused"
SOURCE = {
    "connector.class": "org.apache.kafka.connect.file.FileStreamSourceConnector",
    "file": "{dir}/{s}-refused.txt",
    "topic": "{s}-refused",
}
SINK = {
    "connector.class": "FileStreamSink",
    "file": "{dir}/{s}-refused-out.txt",
    "topics": "{s}-refused",
}
DEAD = {"errors.deadletterqueue.topic.name": "{s}-dead"}
FILE_SOURCE_2 = {**SOURCE, "tasks.max": "2"}


def create(note: str, config: dict[str, Any], *without: str, name: Any = NAME) -> Ask:
    """An attempt to create a connector."""
    return post(
        CREATE,
        {"name": name, "config": {k: v for k, v in config.items() if k not in without}},
        note,
    )


STEPS: tuple[Step, ...] = (
    create("an empty config", {}),
    create("no class", SOURCE, "connector.class"),
    create("a blank class", {**SOURCE, "connector.class": " "}),
    create("class null", {**SOURCE, "connector.class": None}),
    create("an unknown class", {**SOURCE, "connector.class": "com.acme.Nothing"}),
    create("a converter as class", {**SOURCE, "connector.class": "StringConverter"}),
    create("no topic", SOURCE, "topic"),
    create("an empty topic", {**SOURCE, "topic": ""}),
    create("tasks.max is a dog", {**SOURCE, "tasks.max": "dog"}),
    create("tasks.max 0", {**SOURCE, "tasks.max": 0}),
    create("tasks.max 1.5", {**SOURCE, "tasks.max": 1.5}),
    create("tasks.max too big", {**SOURCE, "tasks.max": "2147483648"}),
    create("tasks.max.enforce maybe", {**SOURCE, "tasks.max.enforce": "maybe"}),
    create("two errors", {**SOURCE, "tasks.max": "dog"}, "topic"),
    create("batch.size is a dog", {**SOURCE, "batch.size": "dog"}),
    create("tolerance some", {**SOURCE, "errors.tolerance": "some"}),
    create("reload maybe", {**SOURCE, "config.action.reload": "maybe"}),
    create("retry timeout", {**SOURCE, "errors.retry.timeout": "soon"}),
    create("retry delay", {**SOURCE, "errors.retry.delay.max.ms": "x"}),
    create("log errors perhaps", {**SOURCE, "errors.log.enable": "perhaps"}),
    create("boundary", {**SOURCE, "transaction.boundary": "never"}),
    create("exactly once", {**SOURCE, "exactly.once.support": "always"}),
    create("boundary interval", {**SOURCE, "transaction.boundary.interval.ms": "x"}),
    create("no offsets topic", {**SOURCE, "offsets.storage.topic": " "}),
    create("an unknown converter", {**SOURCE, "key.converter": "com.acme.Nothing"}),
    create("a transform as converter", {**SOURCE, "value.converter": "RegexRouter"}),
    create("an unknown header converter", {**SOURCE, "header.converter": "com.acme.Nothing"}),
    create("a transform without type", {**SOURCE, "transforms": "a"}),
    create(
        "an unknown transform",
        {**SOURCE, "transforms": "a", "transforms.a.type": "com.acme.Nothing"},
    ),
    create("two transforms of one name", {**SOURCE, "transforms": "a, a"}),
    create(
        "a transform without its keys",
        {
            **SOURCE,
            "transforms": "a",
            "transforms.a.type": "org.apache.kafka.connect.transforms.RegexRouter",
        },
    ),
    create("a predicate without type", {**SOURCE, "predicates": "p"}),
    create(
        "an unknown predicate",
        {**SOURCE, "predicates": "p", "predicates.p.type": "com.acme.Nothing"},
    ),
    create("two predicates of one name", {**SOURCE, "predicates": "p, p"}),
    create(
        "nothing to negate",
        {
            **SOURCE,
            "transforms": "a",
            "transforms.a.type": "org.apache.kafka.connect.transforms.RegexRouter",
            "transforms.a.regex": ".*",
            "transforms.a.replacement": "x",
            "transforms.a.negate": "true",
        },
    ),
    create("a sink without topics", SINK, "topics"),
    create("a sink with both", {**SINK, "topics.regex": ".*"}),
    create("a sink with a bad regex", {**SINK, "topics.regex": "["}, "topics"),
    create("a sink that reads its dead letters", {**SINK, "topics": "{s}-dead, x", **DEAD}),
    create(
        "a sink that matches its dead letters", {"topics.regex": "{s}.*", **SINK, **DEAD}, "topics"
    ),
    create(
        "replication of dead letters",
        {**SINK, "errors.deadletterqueue.topic.replication.factor": "many"},
    ),
    create("another name in the config", {**SOURCE, "name": "{s}-other"}),
    create("no name", SOURCE, name=None),
    create("a number as name", SOURCE, "topic", name=12),
    create("an empty name", SOURCE, name=""),
    create("a name of blanks", SOURCE, name="   "),
    create("a name with a line end", SOURCE, name="{s}-line\nend"),
    create("an empty name in the config", {**SOURCE, "name": ""}),
    put("/connectors/{s}-refused/config", {**SOURCE, "name": "{s}-other"}, "another name"),
    put("/connectors/{s}-refused/config", {}, "an empty config"),
    put("/connectors/{s}-refused/config", {**SOURCE, "tasks.max": "dog"}, "tasks.max is a dog"),
    # Names that are unusual but right.
    post(
        CREATE, {"name": "  {s}-trimmed ", "config": SOURCE, "initial_state": "STOPPED"}, "blanks"
    ),
    *states("{s}-trimmed", "STOPPED"),
    delete("/connectors/{s}-trimmed"),
    *gone("{s}-trimmed"),
    put("/connectors/{s}%20a%3Fb/config", FILE_SOURCE_2, "created, a name to be escaped"),
    *states("{s}%20a%3Fb", "RUNNING", "RUNNING"),
    Ask("GET", "/connectors/{s}%20a%3Fb", note="a name to be escaped"),
    Ask("GET", "/connectors/{s}%20a%3Fb/tasks/0/status", note="a name to be escaped"),
    delete("/connectors/{s}%20a%3Fb", "a name to be escaped"),
    *gone("{s}%20a%3Fb"),
)
