"""``format("penstock")``: connectors, topics and named consumers in any Spark session.

Spark 4 imports every package whose name begins with ``pyspark_`` and registers its
``DefaultSource``: where this one is installed, nothing has to be registered. Whatever costs time to
import is imported when it is used.

    spark.read.format("penstock").option("config", json)   # a source connector, as a batch
    spark.read.format("penstock").option("topic", name)    # what a topic holds
    spark.readStream.format("penstock").option("topic", name)[.option("consumer", name)]
    frame.write.format("penstock").mode("append").option("topic", name).save()
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSource

if TYPE_CHECKING:
    from pyspark.sql.datasource import (
        DataSourceReader,
        DataSourceStreamReader,
        DataSourceStreamWriter,
        DataSourceWriter,
    )
    from pyspark.sql.types import StructType

__all__ = ["DefaultSource"]


class DefaultSource(DataSource):
    """Spark's way in; each method is called in a process of its own."""

    @classmethod
    def name(cls) -> str:
        """What follows ``format``."""
        return "penstock"

    def schema(self) -> StructType:
        """A topic's columns are always the same; a connector's are those of its first record."""
        from pyspark_penstock.options import ConnectorOptions, reading_options

        chosen = reading_options(self.options)
        if isinstance(chosen, ConnectorOptions):
            from pyspark_penstock.connectors import inferred_schema

            return inferred_schema(chosen)
        from penstock.engine.frames.topic_frame import columns

        return columns(headers=chosen.headers)

    def reader(self, schema: StructType) -> DataSourceReader:
        """A batch."""
        from pyspark_penstock.options import ConnectorOptions, reading_options

        chosen = reading_options(self.options)
        if isinstance(chosen, ConnectorOptions):
            from pyspark_penstock.connectors import ConnectorReader

            return ConnectorReader(chosen, schema)
        from pyspark_penstock.topics import topic_reader

        return topic_reader(chosen, schema)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802 (Spark's)
        """A stream of a topic, under a name or not."""
        from pyspark_penstock.options import streaming_options
        from pyspark_penstock.streams import stream_reader

        return stream_reader(streaming_options(self.options), schema)

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceWriter:
        """A batch into topics."""
        from pyspark_penstock.options import writing_options
        from pyspark_penstock.writing import TopicsWriter

        return TopicsWriter(writing_options(self.options, overwrite=overwrite), schema)

    def streamWriter(  # noqa: N802 (Spark's)
        self, schema: StructType, overwrite: bool
    ) -> DataSourceStreamWriter:
        """Refused: Spark would hand every record over as a Python object."""
        from pyspark_penstock.options import OptionError

        raise OptionError(
            'format("penstock") cannot end a stream. Write its batches: '
            'foreachBatch(lambda batch, _: batch.write.format("penstock").mode("append")'
            '.option("topic", ...).save())'
        )
