"""The generation of a group, parsed from the metadata with which a member commits.

Statuses carry the group's own generation, as Kafka Connect's do: it keeps increasing when one kind
of worker takes over the group from the other, so later writers always have the higher number.
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
        raise ValueError("not consumer group metadata of a known format")
    return int(generation)
