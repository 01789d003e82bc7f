"""The C library under confluent_kafka, for operations that it offers only record by record.

The library's functions and its message struct are public. Where a producer stores the library's
handle is not: it is the first field in every release from 0.9 to 2.x. ``holds`` verifies that
with the library itself; if it cannot be verified, callers fall back to the public API.

A client of confluent_kafka calls back into Python only from its own calls: functions that trigger
callbacks must not be called with its handle.
"""

from __future__ import annotations

import ctypes
import sys
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import numpy as np
from confluent_kafka import cimpl

_KNOWN: Final = "2."

_FIELDS: Final = {
    "error": ("i4", 0),
    "topic": ("u8", 8),
    "partition": ("i4", 16),
    "value": ("u8", 24),
    "value_length": ("u8", 32),
    "key": ("u8", 40),
    "key_length": ("u8", 48),
    "offset": ("i8", 56),
}
MESSAGE: Final = np.dtype(
    {
        "names": list(_FIELDS),
        "formats": [kind for kind, _ in _FIELDS.values()],
        "offsets": [place for _, place in _FIELDS.values()],
        "itemsize": 72,
    }
)
"""``rd_kafka_message_t`` on a 64-bit little-endian machine, without its last field."""

FIELD: Final = np.dtype(
    {
        "names": ["kind", "first", "second", "third"],
        "formats": ["i4", "u8", "u8", "i8"],
        "offsets": [0, 8, 16, 24],
        "itemsize": 72,
    }
)
"""``rd_kafka_vu_t``, one part of a record, on such a machine: a number; an address and a length; or
the address of a name, an address and a length."""

_MEMORY: Final = Path("/proc/self/mem")
_MARKS: Final = (b"#producer-", b"#consumer-")
_NEAR: Final = 8192
"""A client's struct starts with its name, within this many bytes."""

_POINTER, _INT, _SIZE, _TEXT = ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t, ctypes.c_char_p
LOG_CALLBACK: Final = ctypes.CFUNCTYPE(None, _POINTER, _INT, _TEXT, _TEXT)
"""Called with the client, a level of syslog, the kind of line, and the line."""
ERROR_CALLBACK: Final = ctypes.CFUNCTYPE(None, _POINTER, _INT, _TEXT, _POINTER)
"""Called with the client, the error's code, and a text."""

_FUNCTIONS: Final[dict[str, tuple[Any, list[Any]]]] = {
    "conf_new": (_POINTER, []),
    "conf_destroy": (None, [_POINTER]),
    "conf_set": (_INT, [_POINTER, _TEXT, _TEXT, _POINTER, _SIZE]),
    "conf_set_log_cb": (None, [_POINTER, LOG_CALLBACK]),
    "conf_set_error_cb": (None, [_POINTER, ERROR_CALLBACK]),
    "new": (_POINTER, [_INT, _POINTER, _POINTER, _SIZE]),
    "poll_set_consumer": (_INT, [_POINTER]),
    "topic_partition_list_new": (_POINTER, [_INT]),
    "topic_partition_list_add": (_POINTER, [_POINTER, _TEXT, ctypes.c_int32]),
    "topic_partition_list_set_offset": (
        _INT,
        [_POINTER, _TEXT, ctypes.c_int32, ctypes.c_int64],
    ),
    "topic_partition_list_destroy": (None, [_POINTER]),
    "assign": (_INT, [_POINTER, _POINTER]),
    "queue_get_consumer": (_POINTER, [_POINTER]),
    "queue_new": (_POINTER, [_POINTER]),
    "queue_poll": (_POINTER, [_POINTER, _INT]),
    "queue_destroy": (None, [_POINTER]),
    "consume_batch_queue": (ctypes.c_ssize_t, [_POINTER, _INT, _POINTER, _SIZE]),
    "consumer_close": (_INT, [_POINTER]),
    "destroy": (None, [_POINTER]),
    "brokers_add": (_INT, [_POINTER, _TEXT]),
    "topic_new": (_POINTER, [_POINTER, _TEXT, _POINTER]),
    "topic_destroy": (None, [_POINTER]),
    "produce_batch": (_INT, [_POINTER, ctypes.c_int32, _INT, _POINTER, _INT]),
    "AdminOptions_new": (_POINTER, [_POINTER, _INT]),
    "AdminOptions_destroy": (None, [_POINTER]),
    "AdminOptions_set_request_timeout": (_INT, [_POINTER, _INT, _POINTER, _SIZE]),
    "AdminOptions_set_require_stable_offsets": (_POINTER, [_POINTER, _INT]),
    "ListConsumerGroupOffsets_new": (_POINTER, [_TEXT, _POINTER]),
    "ListConsumerGroupOffsets_destroy": (None, [_POINTER]),
    "ListConsumerGroupOffsets": (None, [_POINTER, _POINTER, _SIZE, _POINTER, _POINTER]),
    "event_error": (_INT, [_POINTER]),
    "event_error_string": (_TEXT, [_POINTER]),
    "event_destroy": (None, [_POINTER]),
    "event_ListConsumerGroupOffsets_result": (_POINTER, [_POINTER]),
    "ListConsumerGroupOffsets_result_groups": (_POINTER, [_POINTER, _POINTER]),
    "group_result_error": (_POINTER, [_POINTER]),
    "group_result_partitions": (_POINTER, [_POINTER]),
    "error_code": (_INT, [_POINTER]),
    "error_string": (_TEXT, [_POINTER]),
    "error_destroy": (None, [_POINTER]),
}
_BRIEF_FUNCTIONS: Final[dict[str, tuple[Any, list[Any]]]] = {
    "message_destroy": (None, [_POINTER]),
    "message_timestamp": (ctypes.c_int64, [_POINTER, _POINTER]),
    "topic_name": (_TEXT, [_POINTER]),
    "opaque": (_POINTER, [_POINTER]),
    "produceva": (_POINTER, [_POINTER, _POINTER, _SIZE]),
    "error_code": (_INT, [_POINTER]),
    "error_destroy": (None, [_POINTER]),
}


@dataclass(frozen=True)
class Library:
    """Functions by their names without ``rd_kafka_``."""

    call: Any
    brief: Any
    """Functions called for every record: they keep the GIL, since releasing and reacquiring it
    takes longer than the call."""


class _Functions:
    def __init__(self, library: Any, signatures: dict[str, tuple[Any, list[Any]]]) -> None:
        for name, (result, arguments) in signatures.items():
            function = getattr(library, f"rd_kafka_{name}")
            function.restype, function.argtypes = result, arguments
            setattr(self, name, function)


@cache
def library() -> Library | None:
    """The library that confluent_kafka itself has loaded, if it is a known version."""
    if not (version("confluent-kafka").startswith(_KNOWN) and _known_machine()):
        return None
    file = cimpl.__file__
    try:
        return Library(
            _Functions(ctypes.CDLL(file), _FUNCTIONS),
            _Functions(ctypes.PyDLL(file), _BRIEF_FUNCTIONS),
        )
    except (OSError, AttributeError):
        return None


def available() -> bool:
    """Whether the library can be used, and so columns instead of records."""
    return library() is not None


def loaded() -> Library:
    """The library; callers check ``available`` first."""
    found = library()
    assert found is not None, "callers ask `available` first"  # noqa: S101 (narrows the type)
    return found


def _known_machine() -> bool:
    sizes = (ctypes.sizeof(_POINTER), ctypes.sizeof(_SIZE))
    return (sys.implementation.name, sys.byteorder, sizes) == ("cpython", "little", (8, 8))


def handle(client: object) -> int | None:
    """The library's handle of a client of confluent_kafka; None once that is closed."""
    return ctypes.c_void_p.from_address(id(client) + object.__basicsize__).value


def holds(client: object) -> bool:
    """Whether ``handle`` is the library's handle of this very client, verified by the library.

    The library is called only once it is certain that one of its clients is at that address.
    """
    found = handle(client)
    library = loaded()
    return found is not None and _is_client(found) and library.brief.opaque(found) == id(client)


def _is_client(address: int) -> bool:
    """Whether a client of the library is at this address; safe for any address."""
    try:
        with _MEMORY.open("rb", buffering=0) as memory:
            memory.seek(address)
            head = memory.read(_NEAR)
            return any(mark in head for mark in _MARKS)
    except (OSError, ValueError, OverflowError):
        return False
