"""A Confluent-compatible schema registry: ids of schemas and schemas of ids, cached.

An id means one schema for ever, so that both are asked for once. What the registry answers is
sorted by what has to be done:

- it does not answer, or is overloaded: ``RetriableError``, see ``errors.retry.timeout``
- it does not let us in: ``UserError``
- it does not know an id or a subject, or rejects a schema: ``Unregistered``, about a record
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, TypeVar

from penstock.registry.settings import RegistrySettings
from penstock.sdk.errors import RetriableError, UserError

T = TypeVar("T")
UNKNOWN_SECONDS = 30.0
"""How long an id that the registry did not know is not asked for again."""
REFUSED = (401, 403)
_BUSY = frozenset({408, 429, 500, 502, 503, 504})
_NEEDED = ("attrs", "authlib", "cachetools", "certifi")

# The client takes half a second to import, which workers without such converters need not spend:
# it is imported when it is used, but that an extra is missing has to be known now.
for _module in _NEEDED:
    if find_spec(_module) is None:
        raise ModuleNotFoundError(f"No module named {_module!r}", name=_module)


@cache
def client_library() -> Any:
    """confluent_kafka's client of registries."""
    # A package that it imports warns users of something that only its authors can change.
    with warnings.catch_warnings(record=True):
        return import_module("confluent_kafka.schema_registry")


class Unregistered(Exception):  # noqa: N818 (converters turn it into a RecordError with its row)
    """The registry has no such schema, or does not accept it; the text says why."""


class Registry:
    """One registry, for one thread at a time. A pickled copy has its own connection and cache."""

    def __init__(self, settings: RegistrySettings) -> None:
        self._settings = settings
        self._forget()

    def _forget(self) -> None:
        self._client: Any = None
        self._texts: dict[int, tuple[str, str]] = {}
        self._unknown: dict[int, tuple[float, str]] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {"_settings": self._settings}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._settings = state["_settings"]
        self._forget()

    def schema(self, schema_id: int) -> tuple[str, str]:
        """Type (AVRO, JSON, …) and text of the schema with this id."""
        if schema_id not in self._texts:
            self._refuse_unknown(schema_id)
            self._limit(self._texts)
            self._texts[schema_id] = self._asked(schema_id)
        return self._texts[schema_id]

    def _asked(self, schema_id: int) -> tuple[str, str]:
        try:
            found = self._call(lambda client: client.get_schema(schema_id), f"schema {schema_id}")
        except Unregistered as error:
            self._limit(self._unknown)
            self._unknown[schema_id] = time.monotonic(), str(error)
            raise
        if found.references:
            raise Unregistered(
                f"the schema with id {schema_id} refers to other schemas, which is not supported"
            )
        return (found.schema_type or "AVRO").upper(), found.schema_str or ""

    def _refuse_unknown(self, schema_id: int) -> None:
        """Records with a wrong id come in crowds."""
        asked, why = self._unknown.get(schema_id, (float("-inf"), ""))
        if time.monotonic() - asked < UNKNOWN_SECONDS:
            raise Unregistered(why)

    def register(self, subject: str, kind: str, text: str, *, normalize: bool) -> int:
        """The id of a schema, which the subject has from now on."""
        schema = self._schema(kind, text)
        return int(
            self._call(
                lambda client: client.register_schema(subject, schema, normalize),
                f"subject {subject}",
            )
        )

    def look_up(self, subject: str, kind: str, text: str, *, normalize: bool) -> int:
        """The id of a schema that the subject has."""
        schema = self._schema(kind, text)
        found = self._call(
            lambda client: client.lookup_schema(subject, schema, normalize), f"subject {subject}"
        )
        return int(found.schema_id)

    def latest(self, subject: str) -> tuple[int, str]:
        """Id and text of the subject's latest schema."""
        found = self._call(lambda client: client.get_latest_version(subject), f"subject {subject}")
        return int(found.schema_id), found.schema.schema_str or ""

    def _schema(self, kind: str, text: str) -> Any:
        return client_library().Schema(text, kind)

    def _limit(self, cache: dict[int, Any]) -> None:
        if len(cache) >= self._settings.cached:
            cache.clear()

    def _call(self, ask: Callable[[Any], T], what: str) -> T:
        import httpx

        library = client_library()
        where = ", ".join(self._settings.urls)
        try:
            if self._client is None:
                self._client = library.SchemaRegistryClient(dict(self._settings.client))
            return ask(self._client)
        except library.SchemaRegistryError as error:
            raise _sorted(error.http_status_code, error, where, what) from error
        except (httpx.HTTPError, OSError) as error:
            raise RetriableError(
                f"The schema registry at {where} does not answer ({type(error).__name__}: {error})."
                " Check schema.registry.url and that the registry runs; errors.retry.timeout says "
                "how long to try again."
            ) from error


def _sorted(status: int, error: Any, where: str, what: str) -> Exception:
    why = f"{error.error_message} (HTTP {status}, code {error.error_code})"
    if status in _BUSY:
        return RetriableError(f"The schema registry at {where} cannot answer about {what}: {why}")
    if status in REFUSED:
        return UserError(
            f"The schema registry at {where} refuses us: {why}. Check basic.auth.user.info or "
            "bearer.auth.token of the converter, and what this user may do."
        )
    return Unregistered(f"the schema registry at {where} says about {what}: {why}")
