"""What can be wrong with a frame turn; each text says what to do."""

from __future__ import annotations

from penstock.sdk.errors import PenstockError


class FrameError(PenstockError):
    """Base of the errors of this room. Nothing was committed."""


class FormatError(FrameError):
    """Spark has no such format installed."""


class ShuffleError(FrameError):
    """A plan that produces into Kafka may not move records between tasks."""


class WriteError(FrameError):
    """Spark, or the place, does not take what was to be written."""


class UnreadableError(WriteError):
    """A record cannot be decoded, of which that was not known before."""


class OutputError(FrameError):
    """What ``build`` has returned cannot be produced."""
