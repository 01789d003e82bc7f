"""Aiven's keys for access, retries and encryption: followed, refused or told, never passed over."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import obstore
import pytest

from object_flushes import flushed_twice
from penstock.plugins.objects.sink_connector import ObjectSinkConnector
from penstock.plugins.objects.source_connector import ObjectSourceConnector
from penstock.plugins.objects.store import open_storage, storage_errors
from penstock.plugins.objects.store_config import STORE_CONFIG
from penstock.plugins.objects.store_retries import azure_retries, gcs_retries, s3_retries
from penstock.runtime.plugins import Plugins
from penstock.sdk import ConfigError


class Store(ThreadingHTTPServer):
    """An HTTP server in place of a cloud: notes requests, and fails all that are to be repeated."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answers)
        self.requests: list[tuple[str, Mapping[str, str]]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    @property
    def s3(self) -> dict[str, str]:
        keys = {"aws.access.key.id": "k", "aws.secret.access.key": "s"}
        return {"aws.s3.bucket.name": "b", "aws.s3.endpoint": self.url, **keys}

    @property
    def gcs(self) -> dict[str, str]:
        parts = dict.fromkeys(("private_key", "private_key_id", "client_email"), "")
        account = {"disable_oauth": True, "gcs_base_url": self.url, **parts}
        account_text = json.dumps(account)
        return {
            "gcs.bucket.name": "b",
            "gcs.endpoint": self.url,
            "gcs.credentials.json": account_text,
        }

    @property
    def azure(self) -> dict[str, str]:
        connection = f"AccountName=a;AccountKey=YQ==;BlobEndpoint={self.url}/a"
        return {
            "azure.storage.container.name": "b",
            "azure.storage.connection.string": connection,
        }


class Answers(BaseHTTPRequestHandler):
    server: Store

    def do_GET(self) -> None:
        self._answer(500)

    def do_PUT(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self._answer(200)

    def _answer(self, status: int) -> None:
        self.server.requests.append((self.command, {k.lower(): v for k, v in self.headers.items()}))
        self.send_response(status)
        self.send_header("etag", '"e"')
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture
def cloud() -> Iterator[Store]:
    with Store() as store:
        serving = Thread(target=store.serve_forever, kwargs={"poll_interval": 0.01})
        serving.start()
        yield store
        store.shutdown()
        serving.join()


def listed(config: Mapping[str, str]) -> None:
    with pytest.raises(obstore.exceptions.BaseError):
        list(obstore.list(open_storage(config).store))


@pytest.mark.parametrize(
    ("place", "keys", "requests"),
    [
        ("s3", {"aws.s3.backoff.max.retries": "6", "aws.s3.backoff.delay.ms": "1"}, 7),
        ("s3", {"aws.s3.backoff.max.retries": "2", "aws.s3.backoff.max.delay.ms": "1"}, 3),
        ("s3", {"aws.s3.backoff.type": "standard", "aws.s3.backoff.max.retries": "9"}, 4),
        (
            "gcs",
            {
                "gcs.retry.backoff.max.attempts": "3",
                "gcs.retry.backoff.initial.delay.ms": "0",
                "gcs.retry.backoff.max.delay.ms": "0",
                "gcs.retry.backoff.delay.multiplier": "1.0",
            },
            3,
        ),
        (
            "azure",
            {
                "azure.retry.backoff.max.attempts": "5",
                "azure.retry.backoff.initial.delay.ms": "40",
                "azure.retry.backoff.max.delay.ms": "2",
            },
            6,
        ),
        ("gcs", {"gcs.retry.backoff.total.timeout.ms": "0"}, 1),
    ],
)
def test_requests_are_repeated_as_often_as_the_keys_say(
    cloud: Store, place: str, keys: dict[str, str], requests: int
) -> None:
    listed({**getattr(cloud, place), **keys})
    assert len(cloud.requests) == requests


def test_delays_reach_the_client() -> None:
    s3 = {"aws.s3.backoff.delay.ms": "20", "aws.s3.backoff.max.delay.ms": "900"}
    gcs = {
        "gcs.retry.backoff.initial.delay.ms": "30",
        "gcs.retry.backoff.max.delay.ms": "800",
        "gcs.retry.backoff.delay.multiplier": "1.5",
        "gcs.retry.backoff.max.attempts": "0",
        "gcs.retry.backoff.total.timeout.ms": "50000",
    }
    azure = {"azure.retry.backoff.max.delay.ms": "40"}
    values = STORE_CONFIG.parse({**s3, **gcs, **azure})
    assert _in_milliseconds(s3_retries(values)) == (20, 900, 2.0, 5000)
    assert _in_milliseconds(gcs_retries(values)) == (30, 800, 1.5, 5000)
    assert _in_milliseconds(azure_retries(values)) == (40, 40, 2.0, 5000)
    assert gcs_retries(values)["max_retries"] > 1_000_000
    nothing = STORE_CONFIG.parse({})
    for unset in (s3_retries(nothing), gcs_retries(nothing), azure_retries(nothing)):
        assert "backoff" not in unset


def _in_milliseconds(retries: Any) -> tuple[float, float, float, float]:
    backoff = retries["backoff"]
    times = (backoff["init_backoff"], backoff["max_backoff"], retries["retry_timeout"])
    first, longest, total = (each.total_seconds() * 1000 for each in times)
    return first, longest, backoff["base"], total


def test_what_is_written_to_s3_is_encrypted_as_said(cloud: Store) -> None:
    flushed_twice({**cloud.s3, "aws.s3.sse.algorithm": "aws:kms", "file.max.age.ms": "1"})
    puts = [headers for verb, headers in cloud.requests if verb == "PUT"]
    assert puts
    assert {headers["x-amz-server-side-encryption"] for headers in puts} == {"aws:kms"}


def test_what_is_written_to_google_has_the_content_encoding(cloud: Store) -> None:
    more = {"gcs.object.content.encoding": "gzip", "gcs.user.agent": "ours/1"}
    flushed_twice({**cloud.gcs, **more, "file.max.age.ms": "1"})
    puts = [headers for verb, headers in cloud.requests if verb == "PUT"]
    assert puts
    assert {(h["content-encoding"], h["user-agent"]) for h in puts} == {("gzip", "ours/1")}


def test_requests_to_azure_name_their_sender(cloud: Store) -> None:
    keys = {"azure.user.agent": "ours/2", "azure.retry.backoff.max.attempts": "0"}
    listed({**cloud.azure, **keys})
    [(_, headers)] = cloud.requests
    assert headers["user-agent"] == "ours/2"


def test_requests_without_a_signature(cloud: Store) -> None:
    place = {key: cloud.s3[key] for key in ("aws.s3.bucket.name", "aws.s3.endpoint")}
    anonymous = "software.amazon.awssdk.auth.credentials.AnonymousCredentialsProvider"
    once = {"aws.s3.backoff.max.retries": "1", "aws.s3.backoff.delay.ms": "1"}
    listed({**place, **once, "aws.credentials.provider": anonymous})
    assert cloud.requests
    assert all("authorization" not in headers for _, headers in cloud.requests)


CONNECTORS = [ObjectSourceConnector, ObjectSinkConnector]
BUCKET = {"aws.s3.bucket.name": "b", "topic": "t"}


@pytest.mark.parametrize("connector", CONNECTORS)
@pytest.mark.parametrize(
    ("key", "value", "text"),
    [
        ("aws.sts.role.arn", "arn:aws:iam::1:role/r", "no role is assumed"),
        ("aws.sts.role.external.id", "e", "AWS_WEB_IDENTITY_TOKEN_FILE"),
        ("aws.sts.role.session.name", "e", "AWS_ROLE_ARN"),
        ("aws.sts.role.session.duration", "900", "or of the machine's role"),
        ("aws.sts.config.endpoint", "https://sts", "set aws.access.key.id"),
        ("aws.credentials.provider", "com.acme.Vault", "com.acme.Vault is a Java class"),
        ("file.prefix.template", "{{topic}}", "in front of file.name.template"),
        ("gcs.credentials.default", "false", "Leave it out"),
    ],
)
def test_what_cannot_be_followed_is_refused_with_what_to_do(
    connector: Any, key: str, value: str, text: str
) -> None:
    config = {**BUCKET, key: value}
    assert text in dict(connector().validate(config))[key]
    with pytest.raises(ConfigError, match=key):
        connector().start(config)


def test_the_name_in_aivens_readme_is_refused_too() -> None:
    [(key, _)] = storage_errors({**BUCKET, "aws.credential.provider": "com.acme.Vault"})
    assert key == "aws.credentials.provider"


@pytest.mark.parametrize(
    "provider",
    [
        "com.amazonaws.auth.DefaultAWSCredentialsProviderChain",
        "software.amazon.awssdk.auth.credentials.DefaultCredentialsProvider",
        "software.amazon.awssdk.auth.credentials.AnonymousCredentialsProvider",
        "InstanceProfileCredentialsProvider",
    ],
)
def test_providers_that_mean_what_is_done_anyway(provider: str) -> None:
    assert storage_errors({**BUCKET, "aws.credentials.provider": provider}) == []


def test_google_has_one_kind_of_credentials() -> None:
    config = {
        "gcs.bucket.name": "b",
        "gcs.credentials.default": "true",
        "gcs.credentials.path": "/p",
    }
    [(key, text)] = storage_errors(config)
    assert key == "gcs.credentials.path"
    assert "set one of" in text


def test_an_encryption_that_s3_does_not_have() -> None:
    with pytest.raises(ConfigError, match=r"aws\.s3\.sse\.algorithm"):
        open_storage({**BUCKET, "aws.s3.sse.algorithm": "rot13"})


@pytest.mark.parametrize(
    ("connector", "key"),
    [
        (ObjectSourceConnector, "aws.s3.fetch.page.size"),
        (ObjectSourceConnector, "aws.s3.fetch.buffer.size"),
        (ObjectSourceConnector, "ring.buffer.size"),
        (ObjectSourceConnector, "azure.blob.fetch.page.size"),
        (ObjectSourceConnector, "azure.blob.fetch.buffer.size"),
        (ObjectSourceConnector, "file.name.timestamp.timezone"),
        (ObjectSourceConnector, "file.name.timestamp.source"),
        (ObjectSourceConnector, "schema.registry.url"),
        (ObjectSinkConnector, "aws.s3.part.size.bytes"),
        (ObjectSinkConnector, "kafka.retry.backoff.ms"),
    ],
)
def test_what_has_no_effect_is_told_in_the_log_and_in_the_documentation(
    connector: Any, key: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    connector().start({**BUCKET, key: "20"})
    assert f"{key} has no effect: " in caplog.text
    assert "without effect" in connector.config_def[key].doc
    caplog.clear()
    connector().start(BUCKET)
    assert caplog.text == ""


def test_older_names_of_the_time_in_names() -> None:
    config = {**BUCKET, "timestamp.timezone": "Nowhere/Here"}
    found = dict(ObjectSinkConnector().validate(config))
    assert "there is no time zone" in found["file.name.timestamp.timezone"]


@pytest.mark.parametrize(
    ("name", "connector"),
    [
        ("io.aiven.kafka.connect.s3.AivenKafkaConnectS3SinkConnector", ObjectSinkConnector),
        ("io.aiven.kafka.connect.gcs.GcsSinkConnector", ObjectSinkConnector),
        ("io.aiven.kafka.connect.azure.sink.AzureBlobSinkConnector", ObjectSinkConnector),
        ("io.aiven.kafka.connect.s3.source.S3SourceConnector", ObjectSourceConnector),
        ("io.aiven.kafka.connect.azure.source.AzureBlobSourceConnector", ObjectSourceConnector),
    ],
)
def test_aivens_class_names(name: str, connector: type) -> None:
    assert Plugins().connector(name).cls is connector
