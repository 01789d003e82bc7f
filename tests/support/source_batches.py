"""What comes of a task that makes whole batches."""

from __future__ import annotations

from penstock.sdk import SourceBatch, SourceTask


def polled(task: SourceTask) -> SourceBatch | None:
    """The next batch; None if there is nothing just now."""
    found = task.poll()
    assert found is None or isinstance(found, SourceBatch)
    return found
