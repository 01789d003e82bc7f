"""The topics of a worker, closed together."""

from __future__ import annotations

from collections.abc import Callable
from unittest.mock import MagicMock

from penstock.runtime.stores.stores import Stores


def test_every_follower_is_told_to_end_before_any_is_waited_for() -> None:
    """Each may take half a second and more: a worker has few seconds to go down in."""
    calls = MagicMock()
    stores = Stores(
        calls.configs, calls.offsets, calls.statuses, calls.copies, calls.roster, calls.workers
    )
    undo: list[Callable[[], None]] = []
    stores.open(undo)
    calls.reset_mock()
    while undo:
        undo.pop()()
    names = [name for name, _, _ in calls.mock_calls]
    told = ["configs", "offsets", "statuses", "copies"]
    ending = [*(f"{store}.log.begin_to_stop" for store in told), "workers.begin_to_stop"]
    assert sorted(names[:5]) == sorted(ending)
    waited = ["copies.log.stop", "statuses.stop", "offsets.log.stop", "configs.log.stop"]
    assert names[5:] == ["workers.stop", *waited]
