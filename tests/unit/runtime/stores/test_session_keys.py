"""Signatures between workers of one cluster."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from penstock.runtime.stores import session_keys
from penstock.runtime.stores.session_keys import (
    MOMENT,
    ROLE,
    SENDER,
    SIGNATURE,
    SessionKeys,
    Signed,
    digest_of,
)

ASKED = Signed("PUT", "/connectors/a/pause?forward=true", b"{}", "host:1", "operate")


@pytest.fixture
def keys() -> SessionKeys:
    found = SessionKeys()
    found.take(SessionKeys.fresh())
    return found


def proof(keys: SessionKeys, asked: Signed = ASKED) -> dict[str, str]:
    headers = keys.sign(asked)
    assert headers is not None
    return headers


def test_what_one_worker_signs_another_of_the_cluster_believes(keys: SessionKeys) -> None:
    assert keys.proves(ASKED, proof(keys))


@pytest.mark.parametrize(
    "other",
    [
        replace(ASKED, method="DELETE"),
        replace(ASKED, target="/connectors/b/pause?forward=true"),
        replace(ASKED, target="/connectors/a/pause"),
        replace(ASKED, body=b"{ }"),
        replace(ASKED, sender="host:2"),
        replace(ASKED, role="admin"),
    ],
)
def test_a_signature_serves_for_nothing_else(keys: SessionKeys, other: Signed) -> None:
    assert not keys.proves(other, proof(keys))


def test_a_claim_is_read_from_its_headers(keys: SessionKeys) -> None:
    headers = proof(keys)
    assert Signed.of(ASKED.method, ASKED.target, ASKED.body, headers) == ASKED
    forged = {**headers, ROLE: "admin"}
    assert not keys.proves(Signed.of(ASKED.method, ASKED.target, ASKED.body, forged), forged)


@pytest.mark.parametrize("part", [SIGNATURE, MOMENT, "X-Connect-Request-Signature-Algorithm"])
def test_without_all_headers_nothing_is_proven(keys: SessionKeys, part: str) -> None:
    headers = proof(keys)
    del headers[part]
    assert not keys.proves(ASKED, headers)


def test_nonsense_proves_nothing(keys: SessionKeys) -> None:
    assert not keys.proves(ASKED, {**proof(keys), SIGNATURE: "%%%"})
    for moment in ("soon", "9" * 400, "9" * 12, "²"):
        assert not keys.proves(ASKED, {**proof(keys), MOMENT: moment})
    assert not keys.proves(ASKED, {SENDER: "host:1"})


def test_another_clusters_key_proves_nothing(keys: SessionKeys) -> None:
    other = SessionKeys()
    other.take(SessionKeys.fresh())
    assert not other.proves(ASKED, proof(keys))
    assert SessionKeys().sign(ASKED) is None


def test_a_signature_is_good_for_a_minute(
    keys: SessionKeys, monkeypatch: pytest.MonkeyPatch
) -> None:
    headers = proof(keys)
    later = float(headers[MOMENT]) + session_keys.LONGEST_SKEW_SECONDS + 2
    monkeypatch.setattr(time, "time", lambda: later)
    assert not keys.proves(ASKED, headers)


def test_the_key_before_the_last_is_forgotten(keys: SessionKeys) -> None:
    headers = proof(keys)
    keys.take(SessionKeys.fresh())
    assert keys.proves(ASKED, headers), "it may still be on its way"
    keys.take(SessionKeys.fresh())
    assert not keys.proves(ASKED, headers)


def test_kafka_connect_takes_none_of_our_keys_for_its_own(keys: SessionKeys) -> None:
    """It does so with keys that are younger than its inter.worker.key.ttl.ms, at most 25 days."""
    body = SessionKeys.fresh()
    assert body["creation-timestamp"] + 2**31 < time.time() * 1000


def test_every_key_has_its_digest(keys: SessionKeys) -> None:
    """Also one that is of no use here."""
    seen = {keys.digest}
    for body in (SessionKeys.fresh(), {"key": "YQ==", "algorithm": "HmacSHA512"}):
        keys.take(body)
        seen.add(keys.digest)
        assert keys.digest == digest_of(body)
        assert body["key"] not in str(keys.digest)
    keys.take(None)
    assert len({*seen, keys.digest}) == 4


def test_keys_are_renewed_by_age(keys: SessionKeys, monkeypatch: pytest.MonkeyPatch) -> None:
    assert [keys.due, SessionKeys().due] == [False, True]
    later = time.time() + session_keys.LIFETIME_SECONDS + 1
    monkeypatch.setattr(time, "time", lambda: later)
    assert keys.due
