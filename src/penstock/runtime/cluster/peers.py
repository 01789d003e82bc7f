"""Signed requests between workers of one cluster, over the REST API.

A user's request that only the leader can carry out is forwarded to it unchanged, but without the
user's own token: the signature replaces it. The leader in turn tells the worker that runs a
connector what to do with it, and that worker sends its tasks to the leader, the only writer.
"""

from __future__ import annotations

import json
import logging
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import httpx

from penstock.runtime.errors import NO_LEADER, Conflict
from penstock.runtime.stores.roster import Roster
from penstock.runtime.stores.session_keys import SENDER, SIGNATURE, SessionKeys, Signed

log = logging.getLogger(__name__)

FORBIDDEN = 403
FORWARD_SECONDS = 85.0
"""Less than the request's own limit, so that the client gets an error from its own worker."""
TELL_SECONDS = 15.0
"""A worker carries out a request within ten seconds, unless it is frozen."""
CONNECT_SECONDS = 2.0
CONFLICTING = "Cannot complete request because of a conflicting operation (e.g. worker rebalance)"
NOT_A_PEER = "The signature of this request is not that of a worker of this cluster."
PEER_ROLE = "peer"


class NotLeading(Conflict):
    """Only the leader can do this; the worker that serves the request may forward it."""


class PeerUnreachable(Exception):  # noqa: N818 (a state of the other worker, which is tolerated)
    """Another worker did not answer, or refused; the text says which and why."""


@dataclass(frozen=True)
class Answer:
    """The answer of another worker."""

    status: int
    body: bytes
    location: str | None
    next_step: str = ""


class Peers:
    """The other workers of the cluster. Thread-safe."""

    def __init__(
        self, worker_id: str, roster: Roster, keys: SessionKeys, tls: ssl.SSLContext | None = None
    ) -> None:
        self._worker_id = worker_id
        self._roster = roster
        self._keys = keys
        # Workers are reached directly, whatever proxy the environment sets.
        self._http = httpx.Client(trust_env=False, verify=tls or True)

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def verified(
        self, method: str, target: str, body: bytes, headers: Mapping[str, str]
    ) -> str | None:
        """The role of a request signed by a worker of this cluster; None if it is not."""
        if SIGNATURE not in headers:
            return None
        signed = Signed.of(method, target, body, headers)
        return signed.role if self._keys.proves(signed, headers) else None

    def forward(self, method: str, target: str, body: bytes, role: str) -> Answer:
        """Let the leader answer a user's request; Conflict if it cannot be reached."""
        leader = self._roster.leader()
        if leader is None or leader == self._worker_id:
            raise Conflict(NO_LEADER)
        try:
            response = self._send(leader, method, target, body, role, seconds=FORWARD_SECONDS)
        except PeerUnreachable as error:
            log.warning("could not forward a request to the leader: %s", error)
            raise Conflict(CONFLICTING) from error
        if response.status_code == FORBIDDEN and NOT_A_PEER in response.text:
            raise Conflict(CONFLICTING)  # it is starting, or has another key: there was a rebalance
        return Answer(
            response.status_code,
            response.content,
            response.headers.get("location"),
            response.headers.get("penstock-next-step", ""),
        )

    def tell(self, worker: str, connector: str, verb: str, body: Any = None) -> None:
        """Tell the worker that runs a connector to do something with it; returns when it is done.

        PeerUnreachable if it did not.
        """
        target = f"/internal/connectors/{quote(connector, safe='')}/{verb}"
        self._send_json(worker, "PUT", target, body)

    def hand_in_tasks(self, connector: str, tasks: list[dict[str, str]]) -> None:
        """Have the leader store the tasks of a connector that this worker runs."""
        leader = self._roster.leader()
        if leader is None:
            raise Conflict(NO_LEADER)
        target = f"/connectors/{quote(connector, safe='')}/tasks"
        try:
            self._send_json(leader, "POST", target, tasks)
        except PeerUnreachable as error:
            raise Conflict(f"The leader did not accept the tasks: {error}") from error

    def _send_json(self, worker: str, method: str, target: str, body: Any) -> None:
        response = self._send(
            worker, method, target, json.dumps(body).encode(), PEER_ROLE, seconds=TELL_SECONDS
        )
        if not response.is_success:
            raise PeerUnreachable(f"worker {worker} refused: {response.text[:500]}")

    def _send(
        self, worker: str, method: str, target: str, body: bytes, role: str, *, seconds: float
    ) -> httpx.Response:
        url = self._roster.url(worker)
        proof = self._keys.sign(Signed(method, target, body, self._worker_id, role))
        if url is None or proof is None:
            raise PeerUnreachable(f"worker {worker} has not advertised its address yet")
        headers = {**proof, "Content-Type": "application/json"}
        limit = httpx.Timeout(seconds, connect=CONNECT_SECONDS)
        try:
            return self._http.request(
                method, url + target, content=body, headers=headers, timeout=limit
            )
        except httpx.HTTPError as error:
            raise PeerUnreachable(f"worker {worker} at {url} does not answer: {error}") from error


def sender(headers: Mapping[str, str]) -> str:
    """The worker that claims to have sent the request; trust it only after verification."""
    return headers.get(SENDER, "")
