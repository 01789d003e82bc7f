"""How long a round may take to recover."""

from __future__ import annotations

import pytest

from chaos.plan import KIND_NAMES, Fault
from chaos.rounds import CARRIER_SECONDS, CARRIERS_ALONE, RECOVERY_SECONDS, recovery_seconds


def struck(*kinds: str) -> list[Fault]:
    return [Fault(kind, "worker-0", 1.0) for kind in kinds]


def test_where_only_carriers_died_it_is_a_third_of_the_time() -> None:
    assert recovery_seconds(struck("python-kill")) == CARRIER_SECONDS == 20.0
    assert recovery_seconds(struck("python-kill", "python-kill")) == CARRIER_SECONDS
    assert set(KIND_NAMES) >= CARRIERS_ALONE


@pytest.mark.parametrize("kind", sorted(set(KIND_NAMES) - CARRIERS_ALONE))
def test_whatever_else_strikes_it_is_a_minute(kind: str) -> None:
    assert recovery_seconds(struck(kind)) == RECOVERY_SECONDS == 60.0
    assert recovery_seconds(struck("python-kill", kind)) == RECOVERY_SECONDS
