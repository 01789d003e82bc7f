"""An entry for objects in S3: the example of how to write one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from penstock.sdk.sources.offset_entries import OffsetManagerEntry, OffsetManagerKey

BUCKET: Final = "bucket"
OBJECT_KEY: Final = "objectKey"
DONE: Final = "done"
ETAG: Final = "etag"


class S3OffsetManagerEntry(OffsetManagerEntry):
    """``{bucket, objectKey}`` → ``{recordCount, done, etag}``.

    An object that is done and has the same etag need not be downloaded again.
    """

    def __init__(
        self, bucket: str, object_key: str, properties: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(self.key_of(bucket, object_key), properties)

    @staticmethod
    def key_of(bucket: str, object_key: str) -> OffsetManagerKey:
        """The key of an object's entry, to look it up with."""
        return OffsetManagerKey({BUCKET: bucket, OBJECT_KEY: object_key})

    @property
    def bucket(self) -> str:
        """The bucket of the object."""
        return str(self.get_manager_key().partition[BUCKET])

    @property
    def object_key(self) -> str:
        """The object's key within its bucket."""
        return str(self.get_manager_key().partition[OBJECT_KEY])

    def is_done(self, etag: str) -> bool:
        """Whether the object was read to its end, and has not changed since."""
        return bool(self.get_bool(DONE)) and self.get_string(ETAG) == etag

    def set_done(self, etag: str) -> None:
        """The object, in this version, was read to its end."""
        self.set_bool(DONE, True)
        self.set_string(ETAG, etag)
