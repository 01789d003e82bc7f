"""Requests to the coordinators of groups."""

from __future__ import annotations

import pytest

from free_ports import free_port
from penstock.kafka import clients, groups
from penstock.kafka.client_life import OwnedAdmin
from penstock.kafka.clients import Connection
from penstock.kafka.errors import BrokerUnavailable


def test_a_request_that_changes_a_group_does_not_outlive_its_callers_patience(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A broker that comes back later must not receive it."""
    made: list[OwnedAdmin] = []

    class Noted(OwnedAdmin):
        def born(self, settings: object) -> None:
            super().born(settings)  # type: ignore[arg-type]  # only handed on
            made.append(self)

    monkeypatch.setattr(groups, "COORDINATOR_TIMEOUT", 0.1)
    admin = clients.admin(Connection(f"127.0.0.1:{free_port()}"), log_level=0)
    monkeypatch.setattr(clients, "OwnedAdmin", Noted)
    with pytest.raises(BrokerUnavailable, match="did not answer"):
        groups.delete(admin, "a-group")
    [used] = made
    assert used._born_in is None  # it was destroyed, and what it had to send with it
