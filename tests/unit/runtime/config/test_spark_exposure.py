"""A Spark cluster that strangers could listen to is refused."""

from __future__ import annotations

import pytest

from penstock.runtime.config.spark_exposure import refuse_open_spark
from penstock.sdk.errors import ConfigError

SAFE = {"spark.authenticate": "true", "spark.network.crypto.enabled": "true"}


@pytest.mark.parametrize(
    "spark",
    [
        {},
        {"spark.master": "local[4]"},
        {"spark.master": "spark://127.0.0.1:7077"},
        {"spark.master": "spark://localhost:7077,127.0.0.1:7078"},
        {"spark.master": "spark://[::1]:7077"},
        {"spark.master": "spark://boss:7077", **SAFE},
        {
            "spark.master": "yarn",
            "spark.authenticate": " TRUE ",
            "spark.ssl.rpc.enabled": "true",
        },
    ],
)
def test_what_stays_here_or_is_protected(spark: dict[str, str]) -> None:
    refuse_open_spark(spark, insecure=False)


@pytest.mark.parametrize(
    ("spark", "lacking"),
    [
        (
            {"spark.master": "spark://boss:7077"},
            "spark.authenticate=true and spark.network.crypto.enabled=true",
        ),
        ({"spark.master": "spark://127.0.0.1:7077,boss:7077"}, "spark.authenticate=true"),
        ({"spark.master": "k8s://https://127.0.0.1:6443"}, "spark.authenticate=true"),
        (
            {"spark.master": "yarn", "spark.authenticate": "true"},
            "First set spark.network.crypto.enabled=true in",
        ),
    ],
)
def test_what_is_open(spark: dict[str, str], lacking: str) -> None:
    with pytest.raises(ConfigError, match=lacking):
        refuse_open_spark(spark, insecure=False)
    refuse_open_spark(spark, insecure=True)
