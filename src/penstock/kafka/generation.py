"""The generation of a group, out of the metadata with which a member commits.

Statuses carry the group's own generation, as Kafka Connect's do: it counts on when one kind of
worker takes over the group from the other, so that whoever writes later has the higher number.
"""

from __future__ import annotations

import struct

# librdkafka writes this mark, then the generation as an int of the machine, then names.
LAYOUT = struct.Struct("=7si")
MARK = b"CGMDv2:"


def generation_of(metadata: bytes) -> int:
    """The generation in a consumer's group metadata; ValueError if there is none in it."""
    mark, generation = LAYOUT.unpack_from(metadata) if len(metadata) >= LAYOUT.size else (b"", 0)
    if mark != MARK:
        raise ValueError("this is no consumer group metadata of a known kind")
    return int(generation)
