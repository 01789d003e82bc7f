"""Keys of a worker's config that have no effect: logged once, in one line."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping

from penstock.config.references import DEFINING
from penstock.runtime.config.rest_config import ADMIN_LISTENERS, admin_is_off
from penstock.runtime.config.worker_clients import CLIENT_KEYS
from penstock.sdk.config import ConfigDef

log = logging.getLogger(__name__)

HEEDED = (
    f"{DEFINING}.",
    "key.converter.",
    "value.converter.",
    "header.converter.",
    "spark.",
    "producer.",
    "consumer.",
    "admin.",
    "config.storage.",
    "offset.storage.",
    "status.storage.",
    *CLIENT_KEYS,
)
WITHOUT_MEANING = frozenset(
    {
        "access.control.allow.methods",
        "access.control.allow.origin",
        ADMIN_LISTENERS,
        "auto.include.jmx.reporter",
        "config.storage.partitions",
        "connect.protocol",
        "inter.worker.key.generation.algorithm",
        "inter.worker.key.size",
        "inter.worker.key.ttl.ms",
        "inter.worker.signature.algorithm",
        "inter.worker.verification.algorithms",
        "internal.key.converter",
        "internal.topics.automatic.creation.enable",
        "internal.value.converter",
        "metadata.recovery.rebootstrap.trigger.ms",
        "metadata.recovery.strategy",
        "metric.reporters",
        "metrics.num.samples",
        "metrics.recording.level",
        "metrics.sample.window.ms",
        "offset.flush.timeout.ms",
        "offset.storage.file.filename",
        "plugin.discovery",
        "plugin.path",
        "request.timeout.ms",
        "response.http.headers.config",
        "rest.advertised.listener",
        "rest.extension.classes",
        "rest.host.name",
        "rest.port",
        "retry.backoff.max.ms",
        "retry.backoff.ms",
        "scheduled.rebalance.max.delay.ms",
        "socket.connection.setup.timeout.max.ms",
        "task.shutdown.graceful.timeout.ms",
        "worker.sync.timeout.ms",
        "worker.unsync.backoff.ms",
    }
)
"""Keys of Kafka Connect's workers: it is not a mistake that they are set."""


def warning(properties: Mapping[str, str], known: ConfigDef, dropped: Iterable[str] = ()) -> str:
    """The message about keys that have no effect; "" if all have."""
    heeded = {ADMIN_LISTENERS} if admin_is_off(properties) else set()
    told_of = properties.keys() - heeded
    unheeded = [key for key in told_of if key not in known and not _heeded(key)]
    dropped = set(dropped) - heeded
    meant = sorted({*(k for k in unheeded if _of_connect(k)), *dropped})
    unknown = sorted(k for k in unheeded if not _of_connect(k))
    parts = [_part(meant, "no effect here"), _part(unknown, "unknown")]
    told = "; ".join(part for part in parts if part)
    return f"Keys of the worker's config that are ignored: {told}" if told else ""


def warn_of_ignored(
    properties: Mapping[str, str], known: ConfigDef, dropped: Iterable[str] = ()
) -> None:
    """Log, in one line, which keys have no effect."""
    if text := warning(properties, known, dropped):
        log.warning("%s", text)


def _heeded(key: str) -> bool:
    return key == DEFINING or (key.startswith(HEEDED) and key not in WITHOUT_MEANING)


def _of_connect(key: str) -> bool:
    return key in WITHOUT_MEANING or key.startswith(("listeners.", "rest.", "metrics.context."))


def _part(keys: list[str], why: str) -> str:
    return f"{', '.join(keys)} ({why})" if keys else ""
