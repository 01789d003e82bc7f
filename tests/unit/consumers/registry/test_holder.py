"""Who is known to have ended."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

from penstock.consumers.registry.holder import Holder


def test_a_process_that_lives_has_not_ended() -> None:
    assert not Holder.here().ended
    assert Holder.here() != Holder.here(), "no two are the same"


def test_a_process_that_has_ended_is_known_only_where_its_number_means_it() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        pass
    dead = replace(Holder.here(), pid=process.pid)
    assert dead.ended
    assert not replace(dead, space="another container's").ended
