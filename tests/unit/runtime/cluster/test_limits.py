"""How long others are waited for."""

from __future__ import annotations

from unittest.mock import MagicMock

import httpx
import pytest

from penstock.rest.http import calls
from penstock.runtime import callbacks
from penstock.runtime.cluster import peers
from penstock.runtime.cluster.peers import Peers, PeerUnreachable


def test_what_users_are_promised() -> None:
    assert callbacks.CALLBACK_SECONDS == 60.0
    assert calls.REQUEST_SECONDS == 90.0
    assert peers.FORWARD_SECONDS < calls.REQUEST_SECONDS


def test_a_frozen_worker_holds_the_leader_up_for_a_moment_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    limits: list[httpx.Timeout] = []

    def frozen(*_: object, timeout: httpx.Timeout, **__: object) -> None:
        limits.append(timeout)
        raise httpx.ReadTimeout("frozen")

    told = Peers("here:1", MagicMock(**{"url.return_value": "http://there:1"}), MagicMock())
    monkeypatch.setattr(told._http, "request", frozen)
    monkeypatch.setattr(told._keys, "sign", lambda _: {})
    with pytest.raises(PeerUnreachable, match="does not answer: frozen"):
        told.tell("there:1", "lines", "end")
    told.close()
    assert limits == [httpx.Timeout(15.0, connect=2.0)]
