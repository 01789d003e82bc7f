"""Object storage by the APIs of Azure and of Google Cloud, on this machine."""

from __future__ import annotations

import base64
import datetime
import hashlib
import hmac
import json
import subprocess
from pathlib import Path
from types import TracebackType
from typing import ClassVar

import httpx
import obstore
from obstore.store import AzureStore

from free_ports import free_port
from waiting import eventually

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "cloud_stores.sh"
MISSING = 3
ACCOUNT = "devstoreaccount1"
# Azurite's only account; its key is in Azurite's documentation.
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
VERSION = "2021-08-06"


class ProgramMissing(Exception):  # noqa: N818 (named for what is the case)
    """What the server is made with is not installed."""


def _program(cloud: str) -> str:
    made = subprocess.run([str(SCRIPT), cloud], stdout=subprocess.PIPE, text=True, check=False)
    if made.returncode == MISSING:
        raise ProgramMissing(cloud)
    assert made.returncode == 0, f"scripts/cloud_stores.sh {cloud} failed (see above)"
    return made.stdout.strip()


class CloudEndpoint:
    """A server that runs while the ``with`` block does, and keeps everything in memory."""

    cloud: ClassVar[str]

    def __init__(self) -> None:
        self._program = _program(self.cloud)
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"

    def command(self) -> list[str]:
        """What starts the server."""
        raise NotImplementedError

    def bucket(self, name: str) -> dict[str, str]:
        """A new bucket, as a connector's config names it."""
        raise NotImplementedError

    def put(self, bucket: str, key: str, data: bytes) -> None:
        """Write an object, from outside."""
        raise NotImplementedError

    def delete(self, bucket: str, key: str) -> None:
        """Delete an object, from outside."""
        raise NotImplementedError

    def __enter__(self) -> CloudEndpoint:
        nowhere = subprocess.DEVNULL
        self._process = subprocess.Popen(self.command(), stdout=nowhere, stderr=nowhere)
        eventually(self._answers, what=f"{self.cloud}'s storage")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.terminate()
        self._process.wait(20)

    def _answers(self) -> bool:
        assert self._process.poll() is None, f"{self.cloud}'s storage has ended"
        try:
            httpx.get(self.url)
        except httpx.TransportError:
            return False
        return True


class AzureEndpoint(CloudEndpoint):
    """Azure Blob Storage, as Microsoft's Azurite speaks it."""

    cloud = "azure"

    def command(self) -> list[str]:
        options = ["--silent", "--inMemoryPersistence", "--disableTelemetry"]
        # obstore may speak a newer version of the API than Azurite knows.
        options += ["--skipApiVersionCheck", "--blobHost", "127.0.0.1"]
        return [self._program, *options, "--blobPort", str(self.port)]

    def bucket(self, name: str) -> dict[str, str]:
        made = httpx.put(f"{self._account}/{name}?restype=container", headers=self._signed(name))
        assert made.status_code == httpx.codes.CREATED, made.text
        return {
            "azure.storage.container.name": name,
            "azure.storage.connection.string": self.connection(),
        }

    def connection(self, key: str = KEY) -> str:
        """The connection string of the account."""
        names = f"DefaultEndpointsProtocol=http;AccountName={ACCOUNT};AccountKey={key};"
        return f"{names}BlobEndpoint={self._account};"

    def put(self, bucket: str, key: str, data: bytes) -> None:
        obstore.put(self.store(bucket), key, data)

    def delete(self, bucket: str, key: str) -> None:
        obstore.delete(self.store(bucket), key)

    def store(self, bucket: str) -> AzureStore:
        """The container, from outside."""
        return AzureStore(
            bucket,
            account_name=ACCOUNT,
            account_key=KEY,
            endpoint=self._account,
            client_options={"allow_http": True},
        )

    def objects(self, bucket: str) -> dict[str, bytes]:
        """Everything in the container, by name."""
        store = self.store(bucket)
        names = [found["path"] for page in obstore.list(store) for found in page]
        return {name: bytes(obstore.get(store, name).bytes()) for name in sorted(names)}

    @property
    def _account(self) -> str:
        return f"{self.url}/{ACCOUNT}"

    def _signed(self, container: str) -> dict[str, str]:
        """The headers that let the account's owner make a container."""
        now = datetime.datetime.now(datetime.UTC).strftime("%a, %d %b %Y %H:%M:%S GMT")
        headers = f"x-ms-date:{now}\nx-ms-version:{VERSION}\n"
        resource = f"/{ACCOUNT}/{ACCOUNT}/{container}\nrestype:container"
        text = "PUT" + "\n" * 12 + headers + resource
        digest = hmac.new(base64.b64decode(KEY), text.encode(), hashlib.sha256).digest()
        signature = f"SharedKey {ACCOUNT}:{base64.b64encode(digest).decode()}"
        return {"x-ms-date": now, "x-ms-version": VERSION, "Authorization": signature}


class GoogleEndpoint(CloudEndpoint):
    """Google Cloud Storage, as fake-gcs-server speaks it: for reading, by the API of obstore."""

    cloud = "gcs"

    def command(self) -> list[str]:
        options = ["-scheme", "http", "-host", "127.0.0.1", "-port", str(self.port)]
        return [self._program, *options, "-backend", "memory", "-public-host", self.url[7:]]

    def bucket(self, name: str) -> dict[str, str]:
        made = httpx.post(f"{self.url}/storage/v1/b?project=p", json={"name": name})
        assert made.status_code == httpx.codes.OK, made.text
        # Without a token: the server asks for none.
        parts = ("client_email", "private_key", "private_key_id")
        account = {"disable_oauth": True, "gcs_base_url": self.url, **dict.fromkeys(parts, "")}
        return {
            "gcs.bucket.name": name,
            "gcs.endpoint": self.url,
            "gcs.credentials.json": json.dumps(account),
        }

    def put(self, bucket: str, key: str, data: bytes) -> None:
        address = f"{self.url}/upload/storage/v1/b/{bucket}/o"
        written = httpx.post(address, params={"uploadType": "media", "name": key}, content=data)
        assert written.status_code == httpx.codes.OK, written.text

    def delete(self, bucket: str, key: str) -> None:
        gone = httpx.delete(f"{self.url}/storage/v1/b/{bucket}/o/{key.replace('/', '%2F')}")
        assert gone.is_success, gone.text
