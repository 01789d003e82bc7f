"""Validating a configuration without using it."""

from __future__ import annotations

from typing import Any

from differential.steps import Ask, Step, put, raw

SOURCE_CLASS = "org.apache.kafka.connect.file.FileStreamSourceConnector"
SINK_CLASS = "org.apache.kafka.connect.file.FileStreamSinkConnector"
SOURCE = {
    "name": "{s}-valid",
    "connector.class": SOURCE_CLASS,
    "file": "{dir}/{s}-valid.txt",
    "topic": "{s}-valid",
}
SINK = {
    "name": "{s}-valid",
    "connector.class": SINK_CLASS,
    "file": "{dir}/{s}-valid.txt",
    "topics": "a, b",
}
TRANSFORM = {
    "transforms": "route",
    "transforms.route.type": "org.apache.kafka.connect.transforms.RegexRouter",
    "transforms.route.regex": "(.*)",
    "transforms.route.replacement": "x-$1",
}
PREDICATE = {
    "predicates": "p",
    "predicates.p.type": "org.apache.kafka.connect.transforms.predicates.HasHeaderKey",
    "predicates.p.name": "h",
}
NEGATED = {"transforms.route.negate": "true"}
USED = {"transforms.route.predicate": "p", **NEGATED}
JSON_HEADERS = {
    "header.converter": "org.apache.kafka.connect.json.JsonConverter",
    "header.converter.schemas.enable": "false",
}
JSON_VALUES = {
    "value.converter": "org.apache.kafka.connect.json.JsonConverter",
    "value.converter.schemas.enable": "perhaps",
}


def _path(plugin: str) -> str:
    return f"/connector-plugins/{plugin}/config/validate"


def source(note: str, *without: str, **changes: Any) -> Ask:
    """A source's configuration, changed; a double underscore stands for a dot."""
    changed = {key.replace("__", "."): value for key, value in changes.items()}
    config = {k: v for k, v in {**SOURCE, **changed}.items() if k not in without}
    return put(_path(SOURCE_CLASS), config, note)


def sink(note: str, *without: str, **changes: Any) -> Ask:
    """A sink's configuration, changed."""
    changed = {key.replace("__", "."): value for key, value in changes.items()}
    config = {k: v for k, v in {**SINK, **changed}.items() if k not in without}
    return put(_path(SINK_CLASS), config, note)


STEPS: tuple[Step, ...] = (
    source("right"),
    sink("right"),
    put(_path("FileStreamSource"), {**SOURCE, "connector.class": "FileStreamSource"}, "aliases"),
    put(_path("FileStreamSourceConnector"), SOURCE, "a simple name"),
    put(_path("FileStreamSink"), SOURCE, "another class"),
    put(_path("Nothing"), SOURCE, "an unknown plugin, another class"),
    put(_path("com.acme.Nothing"), {"connector.class": "com.acme.Nothing"}, "an unknown plugin"),
    put(_path(SOURCE_CLASS), {}, "nothing"),
    source("no class", "connector.class"),
    source("no name", "name"),
    source("no topic", "topic"),
    source("no name and no topic", "name", "topic"),
    source("an empty name", name=""),
    source("name null", name=None),
    source("topic null", topic=None),
    source("file null", file=None),
    source("tasks.max is a dog", tasks__max="dog"),
    source("tasks.max 0", tasks__max=0),
    source("tasks.max 3", tasks__max=3),
    source("tasks.max with blanks", tasks__max=" 3 "),
    source("an unknown key", colour="blue"),
    source("an unknown key null", colour=None),
    source("many values", errors__tolerance="all", errors__retry__timeout="-1"),
    source("wrong values", errors__tolerance="some", batch__size="x", errors__log__enable="y"),
    source("batch.size 0", batch__size="0"),
    source("an unknown converter", key__converter="com.acme.Nothing"),
    source("a short converter name", value__converter="StringConverter"),
    source("a header converter", header__converter="com.acme.Nothing"),
    source("a transform", **TRANSFORM),
    source("a transform without keys", **{**TRANSFORM, "transforms.route.regex": None}),
    source("a transform without type", transforms="a"),
    source("transforms of one name", transforms="a,a"),
    source("a predicate without type", predicates="p"),
    source("a predicate", **TRANSFORM, **PREDICATE, **USED),
    source("a predicate that is not negated", **TRANSFORM, **PREDICATE, **NEGATED),
    source("an empty predicate key", **{**PREDICATE, "predicates.p.name": ""}),
    source("keys of a header converter", **JSON_HEADERS),
    source("simple headers", header__converter="SimpleHeaderConverter"),
    source("keys of a converter", **JSON_VALUES),
    source("exactly once required", exactly__once__support="required"),
    source("topic creation", topic__creation__groups="g"),
    source(
        "topic creation defaults",
        topic__creation__default__partitions="1",
        topic__creation__default__replication__factor="1",
    ),
    source("a plugin version", connector__plugin__version="[9.9]"),
    sink("no topics", "topics"),
    sink("topics null", topics=None),
    sink("both", topics__regex="a.*"),
    sink("a regex", "topics", topics__regex="a.*"),
    sink("a bad regex", "topics", topics__regex="["),
    sink("dead letters read again", errors__deadletterqueue__topic__name="a"),
    sink("dead letters", errors__deadletterqueue__topic__name="dead"),
    sink("no file", "file"),
    raw("PUT", _path(SOURCE_CLASS), b"{", "an object without end"),
    raw("PUT", _path(SOURCE_CLASS), b"null", "null"),
    raw("PUT", _path(SOURCE_CLASS), b"[]", "a list"),
    raw("PUT", _path(SOURCE_CLASS), b"{}", "text/plain", media="text/plain"),
)
