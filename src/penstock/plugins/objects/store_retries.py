"""How a request that fails is repeated: Aiven's keys, as settings of the client."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

from penstock.sdk.config import ConfigDef, ConfigKey, Importance, Type
from penstock.sdk.config_validators import at_least, between, one_of_ignoring_case

RETRIES: Final = 3
RETRY_SECONDS: Final = 5
"""Short: a task hears only between calls that it should stop, and the worker repeats them."""
CLIENTS_FIRST: Final = 100
CLIENTS_LONGEST: Final = 15_000
CLIENTS_GROWTH: Final = 2.0
"""What the client does if nothing is set, in milliseconds."""
LEAST_DELAY: Final = 1
LEAST_GROWTH: Final = 1.01
"""The client draws each delay at random from a range, and panics where that is empty."""

S3: Final = "aws.s3.backoff"
GCS: Final = "gcs.retry.backoff"
AZURE: Final = "azure.retry.backoff"

_AT_MOST: Final = f" Repeating ends after {RETRY_SECONDS} s; the worker then asks again later."


def _key(name: str, type_: Type, validator: Any, doc: str, default: Any = None) -> ConfigKey:
    return ConfigKey(
        name, type_, default, validator, importance=Importance.LOW, doc=doc, group="Retries"
    )


def _delays(initial: str, longest: str, low: int) -> tuple[ConfigKey, ConfigKey]:
    return (
        _key(initial, Type.LONG, at_least(low), "Milliseconds before a request is repeated first."),
        _key(
            longest,
            Type.LONG,
            at_least(low),
            "The most milliseconds between two requests." + _AT_MOST,
        ),
    )


RETRY_CONFIG: Final = ConfigDef(
    _key(
        f"{S3}.type",
        Type.STRING,
        one_of_ignoring_case("STANDARD", "EXPONENTIAL"),
        "Whether the other keys of aws.s3.backoff hold; delays grow with STANDARD as well.",
        "EXPONENTIAL",
    ),
    *_delays(f"{S3}.delay.ms", f"{S3}.max.delay.ms", 1),
    _key(
        f"{S3}.max.retries",
        Type.INT,
        between(1, 30),
        f"How often a request to S3 is repeated; unset, {RETRIES} times.",
    ),
    *_delays(f"{GCS}.initial.delay.ms", f"{GCS}.max.delay.ms", 0),
    _key(
        f"{GCS}.delay.multiplier",
        Type.DOUBLE,
        at_least(1),
        "By how much each delay is longer than the one before; unset, 2.",
    ),
    _key(
        f"{GCS}.max.attempts",
        Type.INT,
        at_least(0),
        f"How often a request to Google is made; unset, {RETRIES + 1} times. 0: only time counts.",
    ),
    _key(
        f"{GCS}.total.timeout.ms",
        Type.LONG,
        between(0, 86_400_000),
        f"How long a request to Google is repeated; {RETRY_SECONDS} s at the most.",
    ),
    *_delays(f"{AZURE}.initial.delay.ms", f"{AZURE}.max.delay.ms", 0),
    _key(
        f"{AZURE}.max.attempts",
        Type.INT,
        at_least(0),
        f"How often a request to Azure is repeated; unset, {RETRIES} times.",
    ),
)


def s3_retries(values: Mapping[str, Any]) -> Any:
    """The client's ``retry_config`` for S3."""
    if str(values[f"{S3}.type"]).upper() == "STANDARD":
        return _retries()
    times = values[f"{S3}.max.retries"]
    return _retries(times, values[f"{S3}.delay.ms"], values[f"{S3}.max.delay.ms"])


def gcs_retries(values: Mapping[str, Any]) -> Any:
    """The client's ``retry_config`` for Google."""
    attempts, total = values[f"{GCS}.max.attempts"], values[f"{GCS}.total.timeout.ms"]
    times = None if attempts is None else attempts - 1 if attempts else 1 << 30
    first, longest = values[f"{GCS}.initial.delay.ms"], values[f"{GCS}.max.delay.ms"]
    made = _retries(times, first, longest, values[f"{GCS}.delay.multiplier"])
    if total is not None:
        made["retry_timeout"] = min(made["retry_timeout"], timedelta(milliseconds=total))
    return made


def azure_retries(values: Mapping[str, Any]) -> Any:
    """The client's ``retry_config`` for Azure."""
    first, longest = values[f"{AZURE}.initial.delay.ms"], values[f"{AZURE}.max.delay.ms"]
    return _retries(values[f"{AZURE}.max.attempts"], first, longest)


def _retries(
    times: int | None = None,
    first: int | None = None,
    longest: int | None = None,
    growth: float | None = None,
) -> dict[str, Any]:
    made: dict[str, Any] = {
        "max_retries": RETRIES if times is None else times,
        "retry_timeout": timedelta(seconds=RETRY_SECONDS),
    }
    if (first, longest, growth) != (None, None, None):
        longest = CLIENTS_LONGEST if longest is None else longest
        first = max(min(CLIENTS_FIRST, longest) if first is None else first, LEAST_DELAY)
        made["backoff"] = {
            "init_backoff": timedelta(milliseconds=first),
            "max_backoff": timedelta(milliseconds=max(longest, first)),
            "base": max(growth or CLIENTS_GROWTH, LEAST_GROWTH),
        }
    return made
