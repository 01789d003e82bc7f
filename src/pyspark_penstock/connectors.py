"""A source connector as a batch: its tasks run as Spark's, and nothing is stored anywhere."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, InputPartition
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from penstock.engine.pipeline.pipeline import Encoded, Pipeline
from penstock.runtime.config.worker_config import STRING_CONVERTER
from penstock.runtime.plugins import Plugin, Plugins
from penstock.runtime.running.pipelines import default_converters, pipeline_recipe
from penstock.runtime.running.task_configs import task_configs
from penstock.runtime.validation.validation import Validator
from penstock.sdk.batches import SourceBatch
from penstock.sdk.connectors import SourceConnector
from penstock.sdk.errors import RetriableError
from penstock.sdk.frame_sources import FrameSourceConnector
from penstock.sdk.offsets import OffsetReader
from penstock.sdk.packing import pack
from penstock.sdk.records import SourceRecord
from penstock.sdk.tasks import SourceTask
from pyspark_penstock.columns import fitted, shaped
from pyspark_penstock.options import ConnectorOptions, OptionError

PAUSE = 0.05
CONVERTERS = {"key.converter": STRING_CONVERTER, "value.converter": STRING_CONVERTER}
"""The worker's defaults, for connectors that name none."""

Config = Mapping[str, str]


class TaskPartition(InputPartition):
    """One task of the connector."""

    def __init__(self, config: Config) -> None:
        super().__init__(None)  # Spark may print the value; a configuration has secrets
        self.config = config


class ConnectorReader(DataSourceReader):
    """Runs the connector's tasks. Picklable."""

    def __init__(self, options: ConnectorOptions, schema: StructType) -> None:
        """OptionError if the configuration is invalid, with every mistake in it."""
        self._run = Run(options)
        self._schema = schema
        self._run.check()

    def partitions(self) -> list[InputPartition]:
        """The tasks that the connector asks for."""
        return [TaskPartition(config) for config in self._run.tasks()]

    def read(self, partition: InputPartition | None) -> Iterator[pa.RecordBatch]:
        """The records of one task."""
        if isinstance(partition, TaskPartition):
            for batch in self._run.records(partition.config):
                yield fitted(batch, self._schema)


def inferred_schema(options: ConnectorOptions) -> StructType:
    """The columns of the first record that any task has; OptionError if there is none."""
    run = Run(replace(options, limit=1))
    run.check()
    for config in run.tasks():
        for batch in run.records(config):
            return from_arrow_schema(batch.schema)
    raise OptionError(
        "the connector has no record from which Spark could learn the columns: give them with "
        '.schema(...), for example "topic string, key string, value string"'
    )


class Run:
    """One reading of a connector, from given offsets until its tasks have no more."""

    def __init__(self, options: ConnectorOptions) -> None:
        self._options = options
        self._config = {"name": "preview", **options.config}
        self._offsets = OffsetReader(options.offsets)

    def check(self) -> None:
        """OptionError with all that is wrong with the configuration."""
        plugins = Plugins()
        found = Validator(plugins, "").validate(self._config)
        if found.errors:
            raise OptionError("\n".join(['"config" is invalid:', *found.errors]))
        if found.plugin.type != "source":
            raise OptionError(
                f"{found.plugin.class_name} is a {found.plugin.type} connector: only sources can "
                "be read"
            )
        if issubclass(found.plugin.cls, FrameSourceConnector):
            raise OptionError(
                f"{found.plugin.class_name} has Spark do the reading: read that with Spark's "
                "own formats"
            )

    def tasks(self) -> list[Config]:
        """What each task is to do, as at the connector's first turn."""
        plugin = self._plugin()
        connector: SourceConnector = plugin.cls()
        config = Plugins().handed(plugin, self._config)
        try:
            connector.start(config)
            asked = task_configs(self._config["name"], connector, plugin, config)
            extras = connector.plan(self._offsets, range(len(asked))) or [{} for _ in asked]
            return [{**task, **extra} for task, extra in zip(asked, extras, strict=True)]
        finally:
            connector.stop()

    def records(self, config: Config) -> Iterator[pa.RecordBatch]:
        """What a task has, after the connector's transforms."""
        plugin = self._plugin()
        converters = default_converters(plugin, CONVERTERS)
        pipeline = pipeline_recipe(Plugins(), self._config, self._config, converters).pipeline(dict)
        for batch in self._limited(_polled(plugin.cls.task_class(), config, self)):
            yield from self._shaped(pipeline, batch)

    @property
    def offsets(self) -> OffsetReader:
        """Where it begins."""
        return self._offsets

    @property
    def idle_seconds(self) -> float:
        """How long a task may have nothing."""
        return self._options.idle_seconds

    def _plugin(self) -> Plugin:
        return Plugins().connector(self._config.get("connector.class", ""))

    def _limited(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """At most as many records as are wanted; what the task polls beyond is dropped."""
        left = self._options.limit
        for batch in batches:
            if left is None or batch.num_rows < left:
                left = None if left is None else left - batch.num_rows
                yield batch
            else:
                yield batch.slice(0, left)
                return

    def _shaped(self, pipeline: Pipeline, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        if not self._options.as_bytes:
            yield from (shaped(each) for each in pipeline.transform(batch) if each.num_rows)
            return
        encoded: Encoded = pipeline.encode(batch)
        if len(encoded.value):
            yield shaped(encoded.batch, key=encoded.key, value=encoded.value)


def _polled(task: SourceTask, config: Config, run: Run) -> Iterator[pa.RecordBatch]:
    """Until the task has had nothing for a while."""
    idle_since: float | None = None
    try:
        task.start(config, run.offsets)
        while idle_since is None or time.monotonic() - idle_since <= run.idle_seconds:
            found = list(_poll(task))
            yield from found
            if found or task.busy:
                idle_since = None
            else:
                idle_since = time.monotonic() if idle_since is None else idle_since
                time.sleep(PAUSE)
        for rest in task.finish():
            yield from _batches(rest)
    finally:
        task.stop()


def _poll(task: SourceTask) -> Iterator[pa.RecordBatch]:
    try:
        yield from _batches(task.poll())
    except RetriableError as error:
        time.sleep(error.retry_after)


def _batches(polled: SourceBatch | Sequence[SourceRecord] | None) -> Iterator[pa.RecordBatch]:
    packed = [polled] if isinstance(polled, SourceBatch) else pack(polled or ())
    yield from (each.records for each in packed if each.records.num_rows)
