"""Whether a bad record is skipped, and what is logged, by ``errors.tolerance`` and related keys."""

from __future__ import annotations

import logging

from penstock.engine.lease.lease import Lease
from penstock.engine.pipeline.stage_error import StageError
from penstock.sdk.errors import FatalError

log = logging.getLogger(__name__)


def tolerate(lease: Lease, error: StageError, *, record: str, place: str, remedy: str) -> None:
    """Return if the record may be skipped; otherwise FatalError, which says what to do.

    ``record`` describes it in Kafka Connect's log line, ``place`` in the error for the user.
    """
    tolerance = lease.tolerance
    if tolerance.log_errors:
        which = f", where {record}" if tolerance.log_messages else ""
        log.error(
            "Error encountered in task %s-%d. Executing stage '%s' with class '%s'%s. %s: %s",
            lease.connector,
            lease.task,
            error.stage,
            error.step,
            which,
            error.error_name,
            error,
        )
    if not tolerance.all_errors:
        raise FatalError(
            f"Tolerance exceeded in error handler: record {place}: {str(error).removesuffix('.')}. "
            f"{remedy}, or set errors.tolerance=all."
        ) from error
