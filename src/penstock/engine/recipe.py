"""What a pipeline is made of: classes and their settings, on the way to where it is made.

A lease carries the recipe and not the pipeline: what references in the settings lead to is known
only where the task runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from penstock.columnar.converter import Converter
from penstock.columnar.predicate import Predicate
from penstock.columnar.transform import Transform
from penstock.engine.pipeline import Pipeline
from penstock.engine.predicated import Predicated

Settings = Mapping[str, str]
Resolve = Callable[[Settings], Settings]


@dataclass(frozen=True)
class Condition:
    """A predicate, not made yet, and whether its answer is turned round."""

    predicate: type[Predicate]
    settings: Settings
    negate: bool = False


@dataclass(frozen=True)
class Recipe:
    """Converters and transforms of one connector, not made yet. Picklable."""

    key: tuple[type[Converter], Settings]
    value: tuple[type[Converter], Settings]
    transforms: Sequence[tuple[type[Transform], Settings, Condition | None]] = ()

    def pipeline(self, resolve: Resolve) -> Pipeline:
        """Make it, with settings as ``resolve`` gives them; ConfigError if they are wrong."""
        return Pipeline(
            key=_converter(*self.key, resolve, is_key=True),
            value=_converter(*self.value, resolve, is_key=False),
            transforms=[_transform(*part, resolve) for part in self.transforms],
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
