"""A herder that writes an audit line for every change asked of it, done or not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar, cast

from penstock.rest.audit import audit
from penstock.rest.herder_api import Config, HerderApi, Json
from penstock.runtime.errors import RequestError
from penstock.runtime.peers import NotLeading

MOST_OFFSETS = 1000
"""Told in a line; of more, how many are left out."""
PLAIN = frozenset({"delete", "pause", "resume", "stop", "restart", "restart_task", "reset_topics"})
"""Changes that are told by their name and that of the connector."""

T = TypeVar("T")


def auditing(herder: HerderApi) -> HerderApi:
    """``herder`` with its changes in the audit."""
    return cast("HerderApi", _AuditedHerder(herder))


class _AuditedHerder:
    """Whatever is not here changes nothing and is the herder's own."""

    def __init__(self, herder: HerderApi) -> None:
        self._herder = herder

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._herder, name)
        return _told(name, method) if name in PLAIN else method

    def create(self, name: str, config: Config, initial_state: str | None = None) -> Json:
        with _telling("create", name, keys=sorted(config), initial_state=initial_state):
            return self._herder.create(name, config, initial_state)

    def put_config(self, name: str, config: Config) -> tuple[bool, Json]:
        with _telling("put config", name, keys=_changed(self._config(name), config)):
            return self._herder.put_config(name, config)

    def patch_config(self, name: str, patch: Mapping[str, str | None]) -> Json:
        before = self._config(name)
        keys = sorted(key for key, value in patch.items() if before.get(key) != value)
        with _telling("patch config", name, keys=keys):
            return self._herder.patch_config(name, patch)

    def alter_offsets(self, name: str, offsets: list[Json]) -> str:
        named = {_identity(entry) for entry in offsets}
        old = [entry for entry in self._offsets(name) if _identity(entry) in named]
        with _telling("alter offsets", name, old=_few(old), new=_few(offsets)):
            return self._herder.alter_offsets(name, offsets)

    def reset_offsets(self, name: str) -> str:
        with _telling("reset offsets", name, old=_few(self._offsets(name)), new=[]):
            return self._herder.reset_offsets(name)

    def set_logger_level(self, name: str, level: str | None) -> list[str]:
        with _telling("set logger level", None, logger=name, level=level):
            return self._herder.set_logger_level(name, level)

    def set_cluster_logger_level(self, name: str, level: str | None) -> None:
        with _telling("set logger level of the cluster", None, logger=name, level=level):
            self._herder.set_cluster_logger_level(name, level)

    def _config(self, name: str) -> Config:
        try:
            return self._herder.config(name)
        except RequestError:
            return {}

    def _offsets(self, name: str) -> list[Json]:
        try:
            found: list[Json] = self._herder.offsets(name)["offsets"]
        except RequestError:
            return []
        return found


@contextmanager
def _telling(what: str, connector: str | None, **details: Any) -> Iterator[None]:
    try:
        yield
    except NotLeading:
        raise  # it is passed on to the leader, who tells of it
    except RequestError as error:
        audit(what, connector, f"refused: {error.status}", **details)
        raise
    except Exception as error:
        audit(what, connector, f"failed: {type(error).__name__}", **details)
        raise
    audit(what, connector, "done", **details)


def _told(what: str, method: Callable[..., T]) -> Callable[..., T]:
    def call(name: str, *args: Any) -> T:
        with _telling(what.replace("_", " "), name, **({"arguments": args} if args else {})):
            return method(name, *args)

    return call


def _changed(before: Config, after: Config) -> list[str]:
    keys = before.keys() | after.keys()
    return sorted(key for key in keys if before.get(key) != after.get(key))


def _identity(entry: Json) -> frozenset[tuple[str, str]]:
    """The same for a partition's number and for the text of it, which requests may hold."""
    return frozenset((key, str(value)) for key, value in (entry.get("partition") or {}).items())


def _few(offsets: list[Json]) -> list[Json]:
    left_out = len(offsets) - MOST_OFFSETS
    return offsets[:MOST_OFFSETS] + ([{"left_out": left_out}] if left_out > 0 else [])
