"""The same records through Kafka Connect's own transforms, in one JVM, and through Penstock's."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.connect_jars import ensure_connect_jars
from penstock.columnar.transforms.spark_sql import SparkSql
from penstock.embedded import Java
from penstock.engine.pipeline.stage_error import class_name
from penstock.runtime.plugins import Plugins
from transform_differential.catalogue import catalogue
from transform_differential.known import KNOWN
from transform_differential.running import differing, ours, theirs


@pytest.mark.heavy
def test_transforms_give_what_kafka_connects_give(tmp_path: Path, java: Java) -> None:
    cases, plugins = catalogue(), Plugins()
    answers = theirs(cases, java, f"{ensure_connect_jars(java, print)}/*", tmp_path)
    found = {
        case: said
        for case, their in zip(cases, answers, strict=True)
        if (said := differing(case, their, ours(case, plugins))) is not None
    }
    unknown = [
        f"{case.name}: {said}"
        for case, said in found.items()
        if not any(k.covers(case) for k in KNOWN)
    ]
    assert not unknown, f"{len(unknown)} of {len(cases)} differ:\n" + "\n".join(unknown)
    gone = [known.reason for known in KNOWN if not any(known.covers(case) for case in found)]
    assert not gone, f"these differences no longer show: {gone}"


def test_every_transform_is_in_the_catalogue() -> None:
    tried = {case.to_json()["class"] for case in catalogue()}
    built_in = {plugin.class_name for plugin in Plugins().transforms if _ours(plugin.cls)}
    assert tried == built_in - {class_name(SparkSql)}, "Kafka Connect has no SparkSql"


def test_every_predicate_is_in_the_catalogue_negated_and_not() -> None:
    tried = {(case.to_json()["predicate"], case.negate) for case in catalogue() if case.predicate}
    built_in = {plugin.class_name for plugin in Plugins().predicates if _ours(plugin.cls)}
    assert len(built_in) == 3
    assert tried == {(name, negate) for name in built_in for negate in (False, True)}


def _ours(cls: type) -> bool:
    return cls.__module__.startswith("penstock.")
