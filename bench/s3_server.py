"""A real S3 server as a child process: rclone, over a folder whose folders are buckets."""

from __future__ import annotations

import socket
import sys
from pathlib import Path

from penstock.client.waiting import wait_until
from penstock.embedded.ports import free_port
from penstock.embedded.process import WatchedProcess

KEY_ID, SECRET = "penstock-bench", "not-a-secret-at-all"
START_SECONDS = 60.0
STOP_SECONDS = 20.0


class S3Server:
    """Ends with the with statement."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.folder.mkdir(parents=True, exist_ok=True)
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> S3Server:
        rclone = Path(sys.executable).parent / "rclone"
        command = [
            *(str(rclone), "serve", "s3", "--config", str(self.folder.parent / "no-rclone.conf")),
            *("--auth-key", f"{KEY_ID},{SECRET}", "--addr", f"127.0.0.1:{self.port}"),
            # Buckets are made as folders behind its back.
            *("--dir-cache-time", "50ms", str(self.folder)),
        ]
        self._process = WatchedProcess(command, self.folder.parent / "rclone.log")
        wait_until(self._answers, "the S3 server", START_SECONDS, interval=0.05)
        return self

    def __exit__(self, *_: object) -> None:
        self._process.stop(STOP_SECONDS)

    def place(self, bucket: str) -> dict[str, str]:
        """A bucket, as a connector's configuration names it."""
        return {
            "aws.s3.bucket.name": bucket,
            "aws.s3.endpoint": self.url,
            "aws.access.key.id": KEY_ID,
            "aws.secret.access.key": SECRET,
        }

    def _answers(self) -> bool | None:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0 or None
