"""The one step of a connector's transforms that Spark carries out, and what is before and after."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from penstock.columnar.transforms.spark_sql import (
    EXPRESSION,
    SCHEMA,
    SPARK_SQL_CONFIG,
    WHERE,
    SparkSql,
)
from penstock.engine.frames.problems import Problems
from penstock.engine.pipeline.recipe import Recipe
from penstock.sdk.sql_expressions import row_expression, row_expressions

Resolve = Callable[[Mapping[str, str]], Mapping[str, str]]


@dataclass(frozen=True)
class SqlStep:
    """What Spark is to compute of each record."""

    expressions: tuple[str, ...]
    """Empty: the value stays as it is."""
    where: str
    """Empty: all records stay."""
    schema: str

    @staticmethod
    def of(settings: Mapping[str, str]) -> SqlStep:
        """From the keys of the transform; ConfigError."""
        parsed = SPARK_SQL_CONFIG.parse(settings)
        made = row_expressions(EXPRESSION, parsed[EXPRESSION])
        return SqlStep(tuple(made), row_expression(WHERE, parsed[WHERE]), parsed[SCHEMA])

    @property
    def text(self) -> str:
        """All of it."""
        return "; ".join([*self.expressions, self.where])


@dataclass(frozen=True)
class Divided:
    """A recipe that has such a step."""

    before: Recipe
    step: SqlStep
    after: Recipe


def divided(recipe: Recipe, resolve: Resolve) -> Divided:
    """The recipe in three; there is one step of Spark's in it. ConfigError."""
    classes = [cls for cls, _, _ in recipe.transforms]
    at = classes.index(SparkSql)
    step = SqlStep.of(resolve(recipe.transforms[at][1]))
    return Divided(
        replace(recipe, transforms=list(recipe.transforms[:at])),
        step,
        replace(recipe, transforms=[(Problems, {}, None), *recipe.transforms[at + 1 :]]),
    )
