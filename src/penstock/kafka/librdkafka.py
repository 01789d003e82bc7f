"""The C library under confluent_kafka, for what that offers only record by record.

The library's functions and its message are public. What is not is where a producer keeps the
library's handle: it is the first field in every release from 0.9 to 2.x. Where that is not certain,
``library`` gives None and callers do without.

A client of confluent_kafka calls back into Python only from its own calls: of those functions that
make callbacks none may be called with its handle.
"""

from __future__ import annotations

import ctypes
import sys
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from typing import Any, Final

import numpy as np
from confluent_kafka import Producer, cimpl

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
    "queue_destroy": (None, [_POINTER]),
    "consume_batch_queue": (ctypes.c_ssize_t, [_POINTER, _INT, _POINTER, _SIZE]),
    "consumer_close": (_INT, [_POINTER]),
    "destroy": (None, [_POINTER]),
    "topic_new": (_POINTER, [_POINTER, _TEXT, _POINTER]),
    "topic_destroy": (None, [_POINTER]),
    "produce_batch": (_INT, [_POINTER, ctypes.c_int32, _INT, _POINTER, _INT]),
}
_BRIEF_FUNCTIONS: Final[dict[str, tuple[Any, list[Any]]]] = {
    "message_destroy": (None, [_POINTER]),
    "message_timestamp": (ctypes.c_int64, [_POINTER, _POINTER]),
    "topic_name": (_TEXT, [_POINTER]),
}


@dataclass(frozen=True)
class Library:
    """Functions by their names without ``rd_kafka_``."""

    call: Any
    brief: Any
    """Those that are called for every record: they keep Python's lock, since to give it up and
    get it back takes longer than the call."""


class _Functions:
    def __init__(self, library: Any, signatures: dict[str, tuple[Any, list[Any]]]) -> None:
        for name, (result, arguments) in signatures.items():
            function = getattr(library, f"rd_kafka_{name}")
            function.restype, function.argtypes = result, arguments
            setattr(self, name, function)


@cache
def library() -> Library | None:
    """The library that confluent_kafka itself has loaded, if it is one we know."""
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
    """Whether there is such a library, and so columns instead of records."""
    return library() is not None


def loaded() -> Library:
    """The library, for whoever has made sure that it is ``available``."""
    found = library()
    assert found is not None, "callers ask `available` first"  # noqa: S101 (narrows the type)
    return found


def _known_machine() -> bool:
    sizes = (ctypes.sizeof(_POINTER), ctypes.sizeof(_SIZE))
    return (sys.implementation.name, sys.byteorder, sizes) == ("cpython", "little", (8, 8))


def handle(producer: Producer) -> int | None:
    """The library's handle of a producer; None once that is closed."""
    return ctypes.c_void_p.from_address(id(producer) + object.__basicsize__).value
