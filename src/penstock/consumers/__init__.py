"""Named consumers: read a topic, keep your place, by name.

with Consumer("orders", name="billing") as consumer:
    for record in consumer:
        handle(record.json())
"""

from penstock.consumers.builder import (
    Client,
    ConsumerConfigExt,
    ConsumerConfigExtBuilder,
    connect,
)
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
from penstock.consumers.options import Gone, OffsetManagement
from penstock.consumers.record import Record

__all__ = [
    "Client",
    "Consumer",
    "ConsumerConfigExt",
    "ConsumerConfigExtBuilder",
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
    "OffsetManagement",
    "Record",
    "Unread",
    "connect",
    "dataframe",
]
