"""A peer at its best: of several ways to configure it, the one that a trial run found quickest."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from bench.rounds import Say

Config = Mapping[str, str]


@dataclass(frozen=True)
class Variant:
    """A way to configure a connector."""

    name: str
    config: Config


SOURCE_VARIANTS = (
    Variant("defaults", {}),
    Variant("batch.size=10000", {"batch.size": "10000"}),
    Variant(
        "batch.size=10000 and our producer's linger and batch size",
        {
            "batch.size": "10000",
            "producer.override.linger.ms": "5",
            "producer.override.batch.size": "1000000",
        },
    ),
)
SINK_VARIANTS = (
    Variant("defaults", {}),
    Variant(
        "max.poll.records=10000 and large fetches",
        {
            "consumer.override.max.poll.records": "10000",
            "consumer.override.max.partition.fetch.bytes": "16777216",
            "consumer.override.fetch.max.bytes": "67108864",
        },
    ),
)


def best(
    variants: tuple[Variant, ...], rate: Callable[[Config], float], say: Say
) -> tuple[Variant, dict[str, float]]:
    """The variant with the highest rate, and the rate of each. The first is run twice: cold, warm.

    These runs are the peer's warm-up too.
    """
    rate(variants[0].config)
    rates: dict[str, float] = {}
    for variant in variants:
        rates[variant.name] = rate(variant.config)
        say(f"trial of kafka connect, {variant.name}: {rates[variant.name]:,.0f}")
    return max(variants, key=lambda variant: rates[variant.name]), rates
