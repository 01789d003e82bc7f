"""A source as an author writes it who thinks in records: one object after another, line by line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import obstore
import orjson
from obstore.store import S3Store

from penstock.sdk import (
    COMMON_SOURCE_CONFIG,
    AbstractSourceTask,
    BackoffConfig,
    ConfigDef,
    ConfigKey,
    OffsetReader,
    S3OffsetManagerEntry,
    Schema,
    SchemaAndValue,
    SourceCommonConfig,
    SourceConnector,
    SourceRecord,
    restarting,
)

CONFIG = COMMON_SOURCE_CONFIG + ConfigDef(
    ConfigKey("endpoint", doc="Address of the S3 server."),
    ConfigKey("bucket", doc="Its bucket."),
    ConfigKey("key.id", doc="The access key."),
    ConfigKey("secret", doc="Its secret."),
    ConfigKey("topic", doc="Where records go."),
)
STRING = Schema.string()


def open_store(endpoint: str, bucket: str, key_id: str, secret: str) -> S3Store:
    """The bucket of an S3 server."""
    return S3Store(
        bucket,
        endpoint=endpoint,
        region="us-east-1",
        access_key_id=key_id,
        secret_access_key=secret,
        virtual_hosted_style_request=False,
        client_options={"allow_http": True},
    )


class RecordSourceTask(AbstractSourceTask):
    """Checks each line, and hands it on as text."""

    def configure(self, props: Mapping[str, str]) -> SourceCommonConfig:
        config = SourceCommonConfig(CONFIG, props)
        where = (config[key] for key in ("endpoint", "bucket", "key.id", "secret"))
        self._store = open_store(*where)
        return config

    def get_iterator(self, backoff_config: BackoffConfig) -> Iterator[SourceRecord | None]:
        return restarting(self._one_pass)

    def close_resources(self) -> None:
        """Nothing is open between two objects."""

    def _one_pass(self) -> Iterator[SourceRecord]:
        for page in obstore.list(self._store):
            for meta in page:
                yield from self._records(meta["path"])

    def _records(self, name: str) -> Iterator[SourceRecord]:
        new = S3OffsetManagerEntry(self.config["bucket"], name)
        entry = self.offset_manager.get_entry(new.get_manager_key(), new.from_properties) or new
        if entry.get_bool("done"):
            return
        lines = bytes(obstore.get(self._store, name).bytes()).splitlines()
        topic, key = self.config["topic"], SchemaAndValue(STRING, name)
        for line in lines[entry.record_count :]:
            orjson.loads(line)
            entry.increment_record_count()
            if entry.record_count == len(lines):
                entry.set_bool("done", True)
            yield entry.source_record(topic, key, SchemaAndValue(STRING, line.decode()))


class RecordSourceConnector(SourceConnector):
    """One task."""

    config_def = CONFIG
    task_class = RecordSourceTask
    version = "1.0"
    _read = False

    def start(self, config: Mapping[str, str]) -> None:
        self._config = dict(config)

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        return [self._config]

    def look(self, offsets: OffsetReader) -> bool:
        return not any(True for _ in offsets)
