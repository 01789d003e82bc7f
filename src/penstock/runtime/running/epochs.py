"""Numbers that grow with every lease handed out, whichever worker does it.

A connector changes its worker only with a new generation of the workers' group: that is the higher
part. The lower one counts what this process has handed out; a worker that is started again joins as
a new member, with a new generation.
"""

from __future__ import annotations

import itertools
from typing import Final

from penstock.engine.lease.lease import Membership
from penstock.kafka.generation import generation_of

COUNT_BITS: Final = 32

_handed_out = itertools.count(1)


def next_epoch(membership: Membership) -> int:
    """The epoch of a lease that is handed out now, under this membership."""
    return (generation_of(membership.metadata) << COUNT_BITS) + next(_handed_out)
