"""Which connectors may have a transform in Spark SQL, and how."""

from __future__ import annotations

from collections.abc import Mapping

from penstock.columnar.transforms.spark_sql import EXPRESSION, WHERE, SparkSql
from penstock.runtime.config.part_keys import TRANSFORMS, aliases
from penstock.runtime.plugins import Plugin, Plugins
from penstock.sdk.connectors import SinkConnector
from penstock.sdk.frame_sources import FrameSourceConnector
from penstock.sdk.frames import FrameConnector
from penstock.sdk.sources.abstract_source_task import AbstractSourceTask
from penstock.sdk.tasks import SourceTask

Config = Mapping[str, str]
Errors = list[tuple[str, str]]


def sql_aliases(plugins: Plugins, config: Config) -> list[str]:
    """The transforms of a configuration that Spark carries out."""
    found = []
    for alias in aliases(config, TRANSFORMS):
        plugin = plugins.transform(config.get(f"{TRANSFORMS}.{alias}.type", "").strip())
        if plugin is not None and plugin.cls is SparkSql:
            found.append(alias)
    return found


def sql_transform_errors(plugins: Plugins, plugin: Plugin, config: Config) -> Errors:
    """(key, message) for what cannot be done."""
    found = sql_aliases(plugins, config)
    errors = [(f"{TRANSFORMS}.{alias}.type", text) for alias in found for text in _whys(plugin)]
    errors += [
        (f"{TRANSFORMS}.{alias}.type", "there can be one SparkSql: put it all into one of them")
        for alias in found[1:]
    ]
    return errors + [error for alias in found for error in _keys(alias, config)]


def _keys(alias: str, config: Config) -> Errors:
    prefix = f"{TRANSFORMS}.{alias}."
    errors = []
    if config.get(f"{prefix}predicate", "").strip():
        text = "SparkSql takes no predicate: put the condition into its where"
        errors.append((f"{prefix}predicate", f"{text}, or into its expression with CASE or IF"))
    if not any(config.get(prefix + key, "").strip() for key in (EXPRESSION, WHERE)):
        errors.append((prefix + EXPRESSION, "SparkSql needs an expression, a where, or both"))
    return errors


def _whys(plugin: Plugin) -> list[str]:
    """Why this connector may have none."""
    if issubclass(plugin.cls, FrameConnector):
        return [
            f"{plugin.class_name} is Spark's own work, and has no transforms: it has its own "
            "expressions, such as select of SparkSink"
        ]
    if issubclass(plugin.cls, SinkConnector | FrameSourceConnector):
        return []
    told = plugin.cls.task_class.committed
    if told in (SourceTask.committed, AbstractSourceTask.committed):
        return []
    return [
        f"the tasks of {plugin.class_name} want to learn what is committed, which SparkSql cannot "
        "do: the task that polls in a turn has ended by then"
    ]
