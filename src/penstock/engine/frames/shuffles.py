"""Refuses plans that move records between Spark's tasks.

A stage that produces into Kafka has one transaction for each input partition, and a re-attempt
touches nothing. Behind a shuffle neither would hold: a partition's records come from everywhere,
and the attempts of a stage that Spark repeats begin again at 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from penstock.engine.frames.errors import ShuffleError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ADAPTIVE = "AdaptiveSparkPlanExec"
STAGE = "QueryStageExec"
SHUFFLE = "ShuffleExchange"
EXISTING = "RDDScanExec"
REGROUPING = frozenset({"UnionExec", "CoalesceExec", "CartesianProductExec"})
"""What changes which rows are in which partition without a shuffle."""


def refuse_shuffles(frame: DataFrame) -> None:
    """ShuffleError if computing ``frame`` needs one; looks at Spark's plan, and runs nothing."""
    plan = frame._jdf.queryExecution().executedPlan()
    found = next(_shuffles(plan), None)
    if found is not None:
        raise ShuffleError(
            f"this plan moves records between tasks ({found}), and ends in Kafka: aggregates, "
            "joins of two streams, sorting and repartitioning need a topic in between. Write what "
            "comes before to a topic with the right keys, and go on from there."
        )


def refuse_moves(frame: DataFrame) -> None:
    """ShuffleError if a partition of ``frame`` may hold rows of several tasks, or only some of one.

    To be asked of a frame over more than one partition: with only one, Spark needs no shuffle.
    """
    refuse_shuffles(frame)
    plan = frame._jdf.queryExecution().executedPlan()
    for node in _nodes(plan):
        if _name(node) in REGROUPING:
            raise ShuffleError(
                f"this plan combines the records of tasks ({_words(node)}), and ends in "
                "Kafka: leave out union and coalesce. Several outputs of one record are an array "
                "to explode."
            )


def _words(node: Any) -> str:
    return str(node.simpleStringWithNodeId())


def _shuffles(plan: Any) -> Iterator[str]:
    """What in the plan shuffles, in Spark's words."""
    for node in _nodes(plan):
        name = _name(node)
        if name.startswith(SHUFFLE):
            yield _words(node)
        elif name == EXISTING and _shuffled(node.rdd()):
            yield "an RDD that was shuffled"


def _nodes(plan: Any) -> Iterator[Any]:
    """Every node, also of subqueries and behind what Spark plans while it runs."""
    yield plan
    name = _name(plan)
    if name == ADAPTIVE:
        below = [plan.executedPlan()]
    elif name.endswith(STAGE):
        below = [plan.plan()]
    else:
        below = [*_sequence(plan.children()), *_sequence(plan.subqueries())]
    for each in below:
        yield from _nodes(each)


def _shuffled(rdd: Any) -> bool:
    dependencies = list(_sequence(rdd.dependencies()))
    return any(_name(d) == "ShuffleDependency" or _shuffled(d.rdd()) for d in dependencies)


def _name(thing: Any) -> str:
    return str(thing.getClass().getSimpleName())


def _sequence(scala: Any) -> Iterator[Any]:
    return (scala.apply(index) for index in range(scala.size()))
