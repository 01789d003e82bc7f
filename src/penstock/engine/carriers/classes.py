"""Plugin classes by name: a lease loads them where it runs, by their entry points.

A name consists of the entry point's group and name, the part of the plugin, and the plugin's
version: a carrier on a host with another version reports an error instead of running it.
"""

from __future__ import annotations

import threading
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

import penstock
from penstock.engine.carriers.codec import CodecError

GROUPS = (
    "penstock.connectors",
    "penstock.converters",
    "penstock.transforms",
    "penstock.predicates",
)
ITSELF, TASK = "itself", "task"
_loading = threading.Lock()
_found: dict[str, type[Any]] = {}


@cache
def name_of(cls: type[Any]) -> str:
    """The name of a plugin's class, or of the task class of a connector; CodecError for others."""
    for point in sorted(_points(), key=lambda point: not _is_at(point, cls)):
        plugin = _loaded(point)
        if plugin is cls:
            return _name(point, ITSELF, plugin)
        if plugin is not None and getattr(plugin, "task_class", None) is cls:
            return _name(point, TASK, plugin)
    raise CodecError(f"{cls.__module__}.{cls.__qualname__} belongs to no entry point")


def load(name: str) -> type[Any]:
    """The class of that name. CodecError says what to install if it is not here.

    Found once: to look through all that is installed takes a tenth of a second of Python's lock,
    and a hundred leases may begin at once.
    """
    with _loading:
        if name not in _found:
            _found[name] = _look_up(name)
        return _found[name]


def _look_up(name: str) -> type[Any]:
    group, point_name, part, version = name.split("/", 3)
    if group not in GROUPS:
        raise CodecError(f"{group} is not a group of plugins")
    for point in entry_points(group=group, name=point_name):
        plugin = _loaded_here(point)
        if (found := _version(plugin)) != version:
            raise CodecError(
                f"{point_name} is installed here in version {found}, but the worker has {version}. "
                "Install the same version on every host on which Spark's executors run."
            )
        cls: type[Any] = plugin if part == ITSELF else plugin.task_class
        return cls
    raise CodecError(
        f"{point_name} is not installed here. Install the plugin on every host on which Spark's "
        "executors run."
    )


@cache
def _points() -> tuple[EntryPoint, ...]:
    return tuple(point for group in GROUPS for point in entry_points(group=group))


def _loaded(point: EntryPoint) -> Any:
    """Its class; None if it cannot be loaded, for example because an extra is missing."""
    try:
        return point.load()
    except Exception:  # noqa: BLE001 (a plugin may raise anything, and this one is not asked for)
        return None


def _loaded_here(point: EntryPoint) -> Any:
    try:
        return point.load()
    except Exception as error:
        raise CodecError(
            f"{point.name} cannot be loaded here: {error}. Install the plugin, with all that it "
            "needs, on every host on which Spark's executors run."
        ) from error


def _is_at(point: EntryPoint, cls: type[Any]) -> bool:
    """Whether it names the class by its own module: then no other need be loaded."""
    return (point.module, point.attr) == (cls.__module__, cls.__qualname__)


def _name(point: EntryPoint, part: str, plugin: type[Any]) -> str:
    return f"{point.group}/{point.name}/{part}/{_version(plugin)}"


def _version(plugin: type[Any]) -> str:
    ours = plugin.__module__.startswith("penstock.")
    return str(getattr(plugin, "version", penstock.__version__ if ours else "unknown"))
