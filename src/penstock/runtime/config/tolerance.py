"""``errors.*``: how a connector treats records that cannot be processed."""

from __future__ import annotations

import math
from collections.abc import Mapping

from penstock.engine.lease.lease import Tolerance


def tolerance_of(config: Mapping[str, str]) -> Tolerance:
    """The tolerance of a valid config."""
    retry_ms = int(config.get("errors.retry.timeout", "0"))
    return Tolerance(
        all_errors=config.get("errors.tolerance", "none").strip() == "all",
        dead_letter_topic=config.get("errors.deadletterqueue.topic.name", "").strip(),
        context_headers=_true(config, "errors.deadletterqueue.context.headers.enable"),
        # Kafka Connect's default is 3, which would fail on a cluster of one broker.
        dead_letter_replication=int(
            config.get("errors.deadletterqueue.topic.replication.factor", "-1")
        ),
        log_errors=_true(config, "errors.log.enable"),
        log_messages=_true(config, "errors.log.include.messages"),
        retry_seconds=math.inf if retry_ms < 0 else retry_ms / 1000,
        retry_delay_max=int(config.get("errors.retry.delay.max.ms", "60000")) / 1000,
    )


def _true(config: Mapping[str, str], key: str) -> bool:
    return config.get(key, "false").strip().lower() == "true"
