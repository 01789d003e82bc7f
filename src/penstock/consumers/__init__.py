"""Named consumers: read a topic and keep your place under a name.

with Consumer("orders", name="billing") as consumer:
    for record in consumer:
        handle(record.json())

The names of the RFC (ConsumerConfigExtBuilder, ...) are in `penstock.consumers.rfc`.
"""

from penstock.consumers.consumer import Consumer
from penstock.consumers.errors import (
    ConsumerError,
    Fenced,
    FlushFailed,
    InvalidConsumer,
    NameHeld,
    NoSuchTopic,
    NothingStored,
    OffsetGone,
)
from penstock.consumers.frames import Unread, dataframe
from penstock.consumers.offset import Offset
from penstock.consumers.options import Gone, Strategy
from penstock.consumers.reading.record import Record

__all__ = [
    "Consumer",
    "ConsumerError",
    "Fenced",
    "FlushFailed",
    "Gone",
    "InvalidConsumer",
    "NameHeld",
    "NoSuchTopic",
    "NothingStored",
    "Offset",
    "OffsetGone",
    "Record",
    "Strategy",
    "Unread",
    "dataframe",
]
