"""What a pipeline is made of: classes and their settings, to be sent where it is built.

A lease carries the recipe and not the pipeline: references in the settings are resolved only where
the task runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from penstock.engine.pipeline.pipeline import Pipeline
from penstock.engine.pipeline.predicated import Predicated
from penstock.engine.pipeline.typed_headers import TypedHeaders
from penstock.sdk.converters import Converter
from penstock.sdk.predicates import Predicate
from penstock.sdk.transforms import Transform

Settings = Mapping[str, str]
Resolve = Callable[[Settings], Settings]


@dataclass(frozen=True)
class Condition:
    """A predicate, not built yet, and whether it is negated."""

    predicate: type[Predicate]
    settings: Settings
    negate: bool = False


@dataclass(frozen=True)
class Recipe:
    """Converters and transforms of one connector, not built yet. Picklable."""

    key: tuple[type[Converter], Settings]
    value: tuple[type[Converter], Settings]
    transforms: Sequence[tuple[type[Transform], Settings, Condition | None]] = ()
    headers: tuple[type[Converter], Settings] | None = None
    """See ``Pipeline.headers``."""

    def pipeline(self, resolve: Resolve) -> Pipeline:
        """Build it, with settings resolved by ``resolve``; ConfigError if they are wrong."""
        return Pipeline(
            key=_converter(*self.key, resolve, is_key=True),
            value=_converter(*self.value, resolve, is_key=False),
            transforms=[_transform(*part, resolve) for part in self.transforms],
            headers=None
            if self.headers is None
            else TypedHeaders(_converter(*self.headers, resolve, is_key=False)),
        )


def _converter(
    cls: type[Converter], settings: Settings, resolve: Resolve, *, is_key: bool
) -> Converter:
    converter = cls()
    converter.configure(resolve(settings), is_key=is_key)
    return converter


def _transform(
    cls: type[Transform], settings: Settings, condition: Condition | None, resolve: Resolve
) -> Predicated:
    transform = cls()
    transform.configure(resolve(settings))
    if condition is None:
        return Predicated(transform)
    predicate = condition.predicate()
    predicate.configure(resolve(condition.settings))
    return Predicated(transform, predicate, condition.negate)
