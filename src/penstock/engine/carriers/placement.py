"""Which carrier runs a lease: a policy, without clocks, threads or Spark.

Light leases share carriers; a lease that keeps a core busy gets its own. A task's next lease goes
where its last one committed, since its producer is still there. Carriers are limited by slots,
leases are not: if no carrier can be added, the least busy one takes them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

SHARED_LOAD = 0.5
"""Cores that the leases of a shared carrier may keep busy before another is started."""
STICKY_LOAD = 0.75
"""Up to so much a task comes back to where its producer is: elsewhere it would need another one,
which costs as much as some minutes of a trickle."""
HEAVY_LOAD = 0.35
"""Cores from which a lease gets its own carrier."""
LIGHT_LOAD = 0.15
"""Cores below which it comes back: far enough from the other limit to avoid flapping."""


@dataclass(frozen=True)
class Seat:
    """What the placement of a lease needs to know about a carrier."""

    carrier: str
    own: bool
    """Whether it is for one heavy lease alone."""
    connected: bool
    leases: int
    load: float
    """Cores that its leases keep busy."""
    room: int
    """How many more leases its file handles, threads and memory allow."""
    groups: frozenset[str] = frozenset()
    """The groups of suspects that are in it."""


@dataclass(frozen=True)
class Wish:
    """A lease that is to be placed."""

    heavy: bool = False
    last: str | None = None
    """The carrier where the task's last lease committed."""
    group: str | None = None
    """Its group, if it is suspected of crashing carriers: the others are kept away from it."""
    repeated: bool = False
    """Whether its group may have caused more than one crash in a row."""


@dataclass(frozen=True)
class Decision:
    """Give the lease to ``carrier``, or to a new one."""

    carrier: str | None = None
    start: bool = False
    """Whether to start another carrier: for this lease if ``carrier`` is None, else for others."""
    own: bool = False
    """Whether the new one is for this lease alone."""
    wait: bool = False
    """Whether the lease has to wait until another carrier can be started."""


def place(wish: Wish, seats: Sequence[Seat], most: int) -> Decision:
    """Where the lease goes, given the existing carriers and ``most``, their highest number."""
    free = max(0, most - len(seats))
    if wish.group is not None:
        return _among_suspects(wish, seats, free)
    unsuspected = [seat for seat in seats if not seat.groups]
    if not unsuspected and not free:
        return _crowded(seats)
    if wish.heavy:
        return _alone(wish, unsuspected, free)
    shared = [seat for seat in unsuspected if not seat.own]
    staying = [seat for seat in shared if seat.connected and _fits(seat, STICKY_LOAD)]
    fitting = [seat for seat in staying if _fits(seat)]
    chosen = _last(wish, staying) or _least_busy(fitting)
    if chosen is not None:
        return Decision(chosen.carrier)
    return _where_none_fits(shared or unsuspected, free)


def _among_suspects(wish: Wish, seats: Sequence[Seat], free: int) -> Decision:
    """With its group, in an empty carrier, or in a new one.

    If none can be started, then with tasks that are not suspected: they would not be blamed for a
    crash. With other suspects only after the first crash, which may have been the last one.
    """
    theirs = next((seat for seat in seats if wish.group in seat.groups), None)
    empty = next((seat for seat in seats if _is_empty(seat)), None)
    chosen = theirs or empty
    if chosen is not None:
        return Decision(chosen.carrier)
    if free:
        return Decision(start=True)
    return _crowded([seat for seat in seats if not (seat.groups and wish.repeated)])


def _is_empty(seat: Seat) -> bool:
    return seat.connected and not seat.own and seat.leases == 0 and _fits(seat)


def _alone(wish: Wish, seats: Sequence[Seat], free: int) -> Decision:
    empty = [seat for seat in seats if seat.own and seat.leases == 0]
    chosen = _last(wish, empty) or _least_busy(empty)
    if chosen is not None:
        return Decision(chosen.carrier)
    if free:
        return Decision(start=True, own=True)
    return _crowded(seats)


def _where_none_fits(seats: Sequence[Seat], free: int) -> Decision:
    """Wait for a connecting carrier only if no connected one has room."""
    roomy = _least_busy([seat for seat in seats if seat.connected and seat.room > 0])
    coming = _least_busy([seat for seat in seats if not seat.connected and _fits(seat)])
    start = free > 0 and coming is None
    if roomy is not None:
        return Decision(roomy.carrier, start=start)
    if coming is not None:
        return Decision(coming.carrier)
    return Decision(start=True) if start else _crowded(seats)


def _crowded(seats: Sequence[Seat]) -> Decision:
    """Leases are not limited by slots: the least busy carrier takes one more."""
    least = _least_busy(seats)
    return Decision(wait=True) if least is None else Decision(least.carrier)


def _fits(seat: Seat, most: float = SHARED_LOAD) -> bool:
    return seat.room > 0 and seat.load < most


def _last(wish: Wish, seats: Sequence[Seat]) -> Seat | None:
    return next((seat for seat in seats if seat.carrier == wish.last), None)


def _least_busy(seats: Sequence[Seat]) -> Seat | None:
    return min(seats, key=lambda seat: (seat.load, seat.leases, seat.carrier), default=None)


def should_move(load: float, *, own: bool, sharers: int, free: int) -> bool:
    """Whether a running lease should end at its next commit, to continue in another carrier.

    ``sharers`` is how many other leases its carrier runs, ``free`` how many carriers may be added.
    """
    if own:
        return load < LIGHT_LOAD
    return load > HEAVY_LOAD and sharers > 0 and free > 0
