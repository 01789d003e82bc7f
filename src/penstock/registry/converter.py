"""What the converters with a schema registry have in common."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Protocol

import pyarrow as pa

from penstock.columnar.json_text import Misfit
from penstock.registry.registry import Registry, Unregistered
from penstock.registry.settings import REGISTRY_KEYS, RegistrySettings
from penstock.registry.subjects import subject
from penstock.registry.wire import header, runs
from penstock.sdk.config import ConfigDef
from penstock.sdk.converters import Converter, Decoded, side
from penstock.sdk.errors import ConfigError, RecordError
from penstock.sdk.schema import SCHEMALESS, Schema, from_field


class Writer(Protocol):
    """Writes columns of one schema."""

    text: str
    """The schema as it is registered."""
    name: str | None
    """What the schema calls itself."""

    def write(self, array: pa.Array, head: bytes) -> pa.Array:
        """Rows as bytes, ``head`` before each; RecordError with the row that does not fit."""


class Reader(Protocol):
    """Reads columns of one schema."""

    field: pa.Field

    def read(self, data: pa.Array) -> pa.Array:
        """Rows of ``field``'s type from bytes with a header; RecordError with the bad row."""


class RegistryConverter(Converter):
    """Keeps writers by topic and schema, and readers by id: the registry is asked once for each."""

    kind: ClassVar[str]
    """The registry's word for such schemas."""
    per_topic: ClassVar[bool] = True
    config_def: ClassVar[ConfigDef] = REGISTRY_KEYS

    def configure(self, config: Mapping[str, str], is_key: bool) -> None:
        parsed = self.config_def.parse(config)
        self._side = side(is_key)
        self._strategy: str = parsed[f"{self._side}.subject.name.strategy"]
        self._auto: bool = parsed["auto.register.schemas"]
        self._latest: bool = parsed["use.latest.version"]
        self._normalize: bool = parsed["normalize.schemas"]
        if self._auto and self._latest:
            raise ConfigError(
                "use.latest.version=true needs auto.register.schemas=false",
                key="use.latest.version",
            )
        self._registry = Registry(RegistrySettings.of(parsed))
        self._forget()
        self._configure(parsed)

    def _configure(self, parsed: Mapping[str, Any]) -> None:
        """Further settings of a converter."""

    @abstractmethod
    def _writer(self, schema: Schema | None, text: str | None) -> Writer:
        """Of values of ``schema``; with ``text``, in the registered schema that this is.

        Misfit if values of such a schema cannot be written.
        """

    @abstractmethod
    def _reader(self, text: str) -> Reader:
        """Of records that were written with this schema; Misfit if they cannot be read."""

    def _forget(self) -> None:
        self._writers: dict[tuple[str, Schema | None], tuple[Writer, bytes]] = {}
        self._readers: dict[int, Reader] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_writers": {}, "_readers": {}}

    def encode(self, array: pa.Array, field: pa.Field) -> pa.Array:
        return self.encode_for("", array, field)

    def encode_for(self, topic: str, array: pa.Array, field: pa.Field) -> pa.Array:
        if array.null_count == len(array):
            return pa.nulls(len(array), pa.binary())
        first = array.is_valid().index(True).as_py()
        try:
            writer, head = self._known_writer(topic, from_field(field))
        except (Misfit, Unregistered) as error:
            raise RecordError(f"Cannot write as {self.kind}: {error}", row=first) from error
        return writer.write(array, head)

    def _known_writer(self, topic: str, schema: Schema | None) -> tuple[Writer, bytes]:
        known = self._writers.get((topic, schema))
        if known is None:
            known = self._registered(topic, schema)
            if len(self._writers) >= 1000:
                self._writers.clear()
            self._writers[topic, schema] = known
        return known

    def _registered(self, topic: str, schema: Schema | None) -> tuple[Writer, bytes]:
        writer = self._writer(schema, None)
        name = subject(self._strategy, topic, self._side, writer.name)
        if self._latest:
            found, text = self._registry.latest(name)
            return self._writer(schema, text), header(found)
        ask = self._registry.register if self._auto else self._registry.look_up
        return writer, header(ask(name, self.kind, writer.text, normalize=self._normalize))

    def decode(self, data: pa.Array) -> list[Decoded]:
        data = data.cast(pa.binary())
        if not len(data):
            return []
        return [self._decoded(data, run.start, run.stop, run.schema_id) for run in runs(data)]

    def _decoded(self, data: pa.Array, start: int, stop: int, schema_id: int | None) -> Decoded:
        if schema_id is None:
            nothing = pa.nulls(stop - start, SCHEMALESS.type)
            return Decoded(start, nothing, SCHEMALESS.with_name(self._side))
        part = data.slice(start, stop - start)
        try:
            reader = self._known_reader(schema_id)
            return Decoded(start, reader.read(part), reader.field)
        except (Misfit, Unregistered) as error:
            row = start + part.is_valid().index(True).as_py()
            why = f"Cannot read {self.kind} with schema id {schema_id}: {error}"
            raise RecordError(why, row=row) from error
        except RecordError as error:
            error.row += start
            raise

    def _known_reader(self, schema_id: int) -> Reader:
        if schema_id not in self._readers:
            kind, text = self._registry.schema(schema_id)
            if kind != self.kind:
                raise Misfit(f"it is a schema of type {kind}")
            self._readers[schema_id] = self._reader(text)
        return self._readers[schema_id]
