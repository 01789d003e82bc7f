"""Leader election: of several operators one works, the one that holds a Lease."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from penstock.kube import KubeApi, KubeError, KubeUnavailable

Json = dict[str, Any]
DURATION_SECONDS = 15
RENEW_SECONDS = 5.0
VERSION, KIND = "coordination.k8s.io/v1", "Lease"
log = logging.getLogger(__name__)


class Leadership:
    """Call `acquire`, then `keep` (in the background), at the end `release`.

    A holder is taken for gone when its Lease has not changed for as long as it lasts, by our own
    clock: clocks of other machines are not trusted.
    """

    def __init__(self, api: KubeApi, namespace: str, name: str, identity: str) -> None:
        self._api, self._identity = api, identity
        self._place = {"name": name, "namespace": namespace}
        self._renewed = time.monotonic()
        self._ended = threading.Event()

    def acquire(self, stopped: threading.Event) -> bool:
        """Return True once we lead, False when ``stopped`` comes first."""
        seen, since = "", time.monotonic()
        while not stopped.is_set():
            lease = self._read()
            version = (lease or {}).get("metadata", {}).get("resourceVersion", "")
            if version != seen:
                seen, since = version, time.monotonic()
            free = lease is None or not _holder(lease) or _holder(lease) == self._identity
            if (free or time.monotonic() - since > DURATION_SECONDS) and self._take(lease):
                self._renewed = time.monotonic()
                return True
            stopped.wait(1.0)
        return False

    def keep(self, lost: Callable[[], None]) -> None:
        """Renew until `release`; ``lost`` is called once if that fails for too long."""
        threading.Thread(target=self._keep, args=(lost,), name="lease", daemon=True).start()

    def _keep(self, lost: Callable[[], None]) -> None:
        while not self._ended.wait(RENEW_SECONDS):
            lease = self._read()
            if lease is not None and _holder(lease) == self._identity and self._take(lease):
                self._renewed = time.monotonic()
            taken = lease is not None and _holder(lease) not in ("", self._identity)
            if taken or time.monotonic() - self._renewed > DURATION_SECONDS - RENEW_SECONDS:
                log.error("The Lease %s is lost", self._place["name"])
                lost()
                return

    def release(self) -> None:
        """Let another lead at once."""
        self._ended.set()
        lease = self._read()
        if lease is not None and _holder(lease) == self._identity:
            lease["spec"]["holderIdentity"] = ""
            self._tried(lambda: self._api.replace(lease))

    def _read(self) -> Json | None:
        return self._tried(lambda: self._api.get(VERSION, KIND, **self._place)) or None

    def _take(self, lease: Json | None) -> bool:
        now = datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
        if lease is None:
            body: Json = {"apiVersion": VERSION, "kind": KIND, "metadata": self._place}
            body["spec"] = self._spec(now, now)
            return self._tried(lambda: self._api.create(body)) is not None
        before = lease.get("spec") or {}
        ours = before.get("holderIdentity") == self._identity
        lease["spec"] = self._spec(before.get("acquireTime", now) if ours else now, now)
        return self._tried(lambda: self._api.replace(lease)) is not None

    def _spec(self, acquired: str, renewed: str) -> Json:
        return {
            "holderIdentity": self._identity,
            "leaseDurationSeconds": DURATION_SECONDS,
            "acquireTime": acquired,
            "renewTime": renewed,
        }

    def _tried(self, call: Callable[[], Json | None]) -> Json | None:
        try:
            return call()
        except (KubeError, KubeUnavailable) as error:
            if not (isinstance(error, KubeError) and error.status == 409):
                log.warning("Lease %s: %s", self._place["name"], error)
            return None


def _holder(lease: Json) -> str:
    return str((lease.get("spec") or {}).get("holderIdentity") or "")
