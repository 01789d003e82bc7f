"""Where the log lines of all librdkafka clients of this process go."""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass

from penstock.kafka.outages import Outages, outages

log = logging.getLogger("penstock.kafka.clients")

_KINDS = ("FAIL", "ERROR", "REQTMOUT", "ADDOFFSETS", "TXNERR")
_AWAY = re.compile(
    r"Connection refused|Disconnected|Connection reset|Connection setup timed out|Broken pipe"
    r"|Connection timed out|No route to host|[Uu]nreachable|request\(s\) timed out|Timed out "
    r"|brokers are down|Broker transport failure|Local: Timed out|Receive failed|Send failed"
    r"|Failed to resolve"
)
"""What clients log about a broker that is unreachable; they keep retrying by themselves."""
_HEAD = re.compile(r"^.*?\[thrd:.*?\]: ")
_ADDRESS = re.compile(r"([\w.-]+|\[[0-9a-fA-F:]+\]):(\d{1,5})\b")


@dataclass(frozen=True)
class Complaint:
    """That a broker could not be reached."""

    broker: str
    """Its address; empty if the line does not say."""
    cause: str


def complaint_of(record: logging.LogRecord) -> Complaint | None:
    """The unreachable broker that a line reports; None if it is about something else."""
    if made := getattr(record, "complaint", None):
        return Complaint(*made)
    kind, _, line = record.getMessage().partition(" ")
    text = _HEAD.sub("", line)
    if kind not in _KINDS or not (cause := _AWAY.search(text)):
        return None
    address = _ADDRESS.search(text)
    return Complaint(address.group(0) if address else "", cause.group(0).strip())


class _Routine(logging.Filter):
    """Logs at DEBUG what librdkafka warns about and then retries by itself."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Keep the record, possibly at DEBUG."""
        routine = record.levelno == logging.WARNING and "retrying" in record.getMessage()
        return _lowered(record) if routine else True


class OneVoice(logging.Filter):
    """Merges what all clients log about an unreachable broker into one line."""

    def __init__(self, known: Outages = outages) -> None:
        super().__init__()
        self._known = known

    def filter(self, record: logging.LogRecord) -> bool:
        """Keep the record, possibly with another text or at DEBUG."""
        complaint = complaint_of(record) if record.levelno >= logging.WARNING else None
        if complaint is None:
            return True
        broker = complaint.broker or self._known.usual
        if not broker:
            return _lowered(record) if self._known.brokers() else True
        told = self._known.complain(broker, complaint.cause)
        if told is None:
            return _lowered(record)
        record.msg, record.args = told, None
        record.levelno, record.levelname = logging.WARNING, "WARNING"
        record.complaint = (broker, complaint.cause)
        return True


def _lowered(record: logging.LogRecord) -> bool:
    record.levelno, record.levelname = logging.DEBUG, "DEBUG"
    return log.isEnabledFor(logging.DEBUG)


def keeps(record: logging.LogRecord) -> bool:
    """Whether to log a line from a client of another process here."""
    return record.name != log.name or bool(log.filter(record))


log.addFilter(_Routine())
log.addFilter(OneVoice())
