"""What a listing says about an object, and which version of it that is."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self


@dataclass(frozen=True, order=True)
class ListedObject:
    """One object of a bucket, ordered by key as listings are."""

    key: str
    size: int = 0
    modified: int = 0
    """In milliseconds since the epoch, by the store's clock."""
    etag: str = ""

    @classmethod
    def of(cls, meta: Mapping[str, Any]) -> Self:
        """Made of what obstore says about it, in a listing or with its bytes."""
        modified = int(meta["last_modified"].timestamp() * 1000)
        etag = (meta.get("e_tag") or "").strip('"')
        # A store without etags: a download tells the time in whole seconds only.
        return cls(
            meta["path"], meta["size"], modified, etag or f"{meta['size']}-{modified // 1000}"
        )

    @property
    def fingerprint(self) -> bytes:
        """Eight bytes that stand for this version of this object."""
        return hashlib.blake2b(f"{self.etag}\0{self.key}".encode(), digest_size=8).digest()
