"""What placement has to know of tasks and carriers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from penstock.engine.carriers.carrier import Carrier
from penstock.engine.carriers.loads import Loads
from penstock.engine.carriers.placement import Seat, Wish
from penstock.engine.carriers.suspicion import Suspicion


@dataclass(frozen=True)
class Seating:
    """Under the fleet's lock."""

    loads: Loads
    suspicion: Suspicion
    last: Mapping[str, str]
    """The carrier in which each task's last lease committed."""

    def wish(self, task: str) -> Wish:
        """Where a lease of the task belongs."""
        return Wish(
            heavy=self.loads.heavy(task),
            last=self.last.get(task),
            group=self.suspicion.group(task),
            repeated=self.suspicion.repeated(task),
        )

    def seat(self, carrier: Carrier) -> Seat:
        """What there is in a carrier."""
        tasks = [ticket.task for ticket in carrier.tickets.values()]
        groups = frozenset(group for task in tasks if (group := self.suspicion.group(task)))
        link = carrier.link
        # Counted here: of those that were just placed, the carrier does not know yet.
        room = max(0, link.vitals.most - len(tasks))
        load = sum(map(self.loads.of, tasks))
        return Seat(link.carrier, carrier.own, link.bound, len(tasks), load, room, groups)
