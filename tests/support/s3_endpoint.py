"""A real S3 endpoint: rclone serves a folder whose folders are buckets."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path
from types import TracebackType

import obstore
from obstore.store import S3Store

from free_ports import free_port
from waiting import eventually

KEY_ID, SECRET = "penstock-tests", "not-a-secret-at-all"


class S3Endpoint:
    """Runs while the ``with`` block does."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> S3Endpoint:
        self._process = self._start()
        eventually(self._answers, what="the S3 endpoint")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.terminate()
        self._process.wait(20)

    def _start(self) -> subprocess.Popen[bytes]:
        rclone = Path(sys.executable).parent / "rclone"
        auth, address = f"{KEY_ID},{SECRET}", f"127.0.0.1:{self.port}"
        command = [str(rclone), "serve", "s3", "--auth-key", auth, "--addr", address]
        # Buckets are made as folders behind its back; without any cache, it takes a second a PUT.
        own = ["--config", str(self.folder.parent / "no-rclone.conf"), "--dir-cache-time", "50ms"]
        nowhere = subprocess.DEVNULL
        whole = [*command, *own, str(self.folder)]
        return subprocess.Popen(whole, stdout=nowhere, stderr=nowhere)

    def _answers(self) -> bool:
        assert self._process.poll() is None, "rclone has ended"
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def _is_there(self, bucket: str) -> bool:
        try:
            return obstore.list(self.store(bucket)).collect() == []
        except obstore.exceptions.BaseError:
            return False

    def bucket(self, name: str) -> dict[str, str]:
        """A new bucket, as a connector's config names it."""
        (self.folder / name).mkdir()
        eventually(lambda: self._is_there(name), what=f"the bucket {name}")
        return {
            "aws.s3.bucket.name": name,
            "aws.s3.endpoint": self.url,
            "aws.access.key.id": KEY_ID,
            "aws.secret.access.key": SECRET,
        }

    def store(self, bucket: str) -> S3Store:
        """The bucket, from outside."""
        return S3Store(
            bucket,
            endpoint=self.url,
            region="us-east-1",
            access_key_id=KEY_ID,
            secret_access_key=SECRET,
            virtual_hosted_style_request=False,
            client_options={"allow_http": True},
        )

    def objects(self, bucket: str) -> dict[str, bytes]:
        """Everything in the bucket, by name."""
        store = self.store(bucket)
        names = [found["path"] for page in obstore.list(store) for found in page]
        return {name: bytes(obstore.get(store, name).bytes()) for name in sorted(names)}
