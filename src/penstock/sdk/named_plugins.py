"""Classes that a configuration names by a short name: found by entry points."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import EntryPoint, entry_points
from typing import TypeVar

from penstock.sdk.errors import ConfigError
from penstock.sdk.missing_extras import missing_extra

T = TypeVar("T")


def names_in(group: str, built_in: Iterable[EntryPoint] = ()) -> list[str]:
    """The names in a group of entry points, whether they can be loaded or not."""
    return sorted({point.name for point in (*built_in, *entry_points(group=group))})


def load_named(
    group: str, name: str, kind: type[T], word: str, built_in: Iterable[EntryPoint] = ()
) -> type[T]:
    """The class called ``name``, in capitals or not; ``word`` is what users call such a thing.

    Those of ``built_in`` need not be installed as entry points, and come first.
    """
    wanted, points = name.lower(), (*built_in, *entry_points(group=group))
    point = next((p for p in points if p.name.lower() == wanted), None)
    if point is None:
        known = ", ".join(names_in(group, built_in))
        raise ConfigError(f"Unknown {word} {name}: it must be one of {known}.")
    cls = _loaded(point)
    if not (isinstance(cls, type) and issubclass(cls, kind)):
        raise ConfigError(f"The {word} {name} ({point.value}) is no {kind.__name__}.")
    return cls


def _loaded(point: EntryPoint) -> object:
    try:
        return point.load()
    except ModuleNotFoundError as error:
        advice = missing_extra(point, error)
        if advice is None:
            raise
        raise ConfigError(f"{advice}.") from None
