"""The worker's config, where there is one."""

from __future__ import annotations

from penstock.cli.doctor.asked import Asked
from penstock.cli.doctor.findings import Finding, failed, ok
from penstock.sdk.errors import ConfigError


def check(asked: Asked) -> list[Finding]:
    """Whether the file can be read and its values are such as a worker takes."""
    if asked.config.file is None:
        return []
    if trouble := asked.config.trouble or _wrong_value(asked):
        return [failed("worker config", trouble, "Correct the file, or leave it out.")]
    return [ok("worker config", str(asked.config.file))]


def _wrong_value(asked: Asked) -> str:
    from penstock.runtime.config.worker_config import WorkerConfig

    try:
        WorkerConfig.from_properties(asked.config.properties, asked.data_dir)
    except ConfigError as error:
        return str(error)
    return ""
