"""What docs/transforms.md has to say: the keys as they are declared, and the known differences."""

from __future__ import annotations

from penstock.runtime.plugins import Plugin, Plugins
from penstock.sdk.config import ConfigKey
from transform_differential.known import KNOWN

HEAD = """\
# Transforms and predicates

All of Kafka Connect's transforms and predicates are here, under its class names and with its keys:

```json
"transforms": "cast,route",
"transforms.cast.type": "org.apache.kafka.connect.transforms.Cast$Value",
"transforms.cast.spec": "price:float64",
"transforms.route.type": "org.apache.kafka.connect.transforms.TimestampRouter",
"transforms.route.predicate": "orders",
"predicates": "orders",
"predicates.orders.type": "org.apache.kafka.connect.transforms.predicates.TopicNameMatches",
"predicates.orders.pattern": "orders-.*"
```

They work the same for sources and sinks. A batch of records with a schema is changed column by
column; records without a schema are changed one by one. A record that a transform cannot change is
an error of that record alone: `errors.tolerance` decides what becomes of it. A null key or value
has the schema of the records around it if that is optional, and none otherwise.

Header values have the types that Kafka Connect's SimpleHeaderConverter gives them: InsertHeader and
HeaderFrom write its text, and `penstock.sdk.read_header` reads it. Another `header.converter`
writes and reads the same types in its own way. Transforms of your own may be
[functions](../CONTRIBUTING.md#how-to-add-a-transform). One transform is Penstock's own: `SparkSql`,
which [Spark computes](frames.md#transforms-in-spark-sql).

## Records that cannot be transformed

With `errors.tolerance=all` such a record is skipped and, if `errors.deadletterqueue.topic.name` is
set, written to that topic, in the transaction that commits the offset past it. This holds for sinks
and for sources, there also for what a task cannot read or what does not fit its schema. A sink's
dead letter is the record as it was in the topic. A source's holds key and value as far as they got,
bytes as they are and anything else as JSON, and says in the headers
`__connect.errors.source.partition` and `__connect.errors.source.offset` where the source goes on
after it. With
`errors.deadletterqueue.context.headers.enable` the other headers are Kafka Connect's.
"""
DIFFERENCES = """\
## Where results differ from Kafka Connect's

All transforms and predicates are compared with those of Kafka Connect 4.3.1, on records with and
without schemas, with nulls, and mixed
(`tests/integration/differential/test_transforms_differential.py`).
They differ only in this:

| where | difference |
|---|---|
"""


def transforms_document() -> str:
    """The whole document."""
    plugins = Plugins()
    sections = [_section(name, of) for name, of in _by_name(plugins.transforms).items()]
    predicates = [_section(name, of) for name, of in _by_name(plugins.predicates).items()]
    return "\n".join(
        [HEAD, "## Transforms\n", *sections, "## Predicates\n", *predicates, _differences()]
    )


def _by_name(found: list[Plugin]) -> dict[str, list[Plugin]]:
    named: dict[str, list[Plugin]] = {}
    for plugin in found:
        if plugin.cls.__module__.startswith("penstock."):
            named.setdefault(plugin.class_name.partition("$")[0], []).append(plugin)
    return named


def _section(name: str, plugins: list[Plugin]) -> str:
    cls = plugins[0].cls
    base = cls.__mro__[1] if len(plugins) > 1 else cls
    doc = (base.__doc__ or "").partition("\n\n")[0]
    classes = ", ".join(f"`{plugin.class_name}`" for plugin in plugins)
    keys = "\n".join(_row(key) for key in cls.config_def)
    table = f"\n| key | default | meaning |\n|---|---|---|\n{keys}\n" if keys else ""
    return f"### {name.rpartition('.')[2]}\n\n{doc}\n\n{classes}\n{table}"


def _row(key: ConfigKey) -> str:
    default = "required" if key.required else f"`{key.text(key.default) or ''}`"
    return f"| `{key.name}` | {'' if default == '``' else default} | {key.doc} |"


def _differences() -> str:
    rows = [f"| {known.names[0].partition(' ')[0]} | {known.reason} |" for known in KNOWN]
    return DIFFERENCES + "\n".join(rows) + "\n"
