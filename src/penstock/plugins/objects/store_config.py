"""The keys that say where objects are, for source and sink alike.

They are those of Aiven's connectors, their older names included; those that cannot be followed are
refused, or accepted with a warning (``aiven_keys``). Which storage is meant follows
from which of ``aws.s3.bucket.name``, ``gcs.bucket.name``, ``azure.storage.container.name`` and
``local.folder`` is set.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from penstock.plugins.objects.aiven_keys import GCS_DEFAULT, PROVIDER, REFUSED_CONFIG
from penstock.plugins.objects.store_retries import RETRY_CONFIG
from penstock.sdk.config import ConfigDef, ConfigKey, Importance, Type
from penstock.sdk.config_validators import one_of

S3_BUCKET: Final = "aws.s3.bucket.name"
S3_ENDPOINT: Final = "aws.s3.endpoint"
S3_REGION: Final = "aws.s3.region"
S3_PREFIX: Final = "aws.s3.prefix"
S3_KEY_ID: Final = "aws.access.key.id"
S3_SECRET: Final = "aws.secret.access.key"  # noqa: S105 (the name of a key)
S3_ENCRYPTION: Final = "aws.s3.sse.algorithm"
GCS_BUCKET: Final = "gcs.bucket.name"
GCS_ENDPOINT: Final = "gcs.endpoint"
GCS_CREDENTIALS_PATH: Final = "gcs.credentials.path"
GCS_CREDENTIALS_JSON: Final = "gcs.credentials.json"
GCS_ENCODING: Final = "gcs.object.content.encoding"
GCS_AGENT: Final = "gcs.user.agent"
AZURE_CONTAINER: Final = "azure.storage.container.name"
AZURE_CONNECTION: Final = "azure.storage.connection.string"
AZURE_PREFIX: Final = "azure.blob.prefix"
AZURE_AGENT: Final = "azure.user.agent"
PREFIX: Final = "file.name.prefix"
FOLDER: Final = "local.folder"

PLACES: Final = (S3_BUCKET, GCS_BUCKET, AZURE_CONTAINER, FOLDER)
"""Exactly one of these is set."""

OLD_NAMES: Final[Mapping[str, str]] = {
    "aws_access_key_id": S3_KEY_ID,
    "aws_secret_access_key": S3_SECRET,
    "aws_s3_bucket": S3_BUCKET,
    "aws_s3_bucket_name": S3_BUCKET,
    "aws_s3_endpoint": S3_ENDPOINT,
    "aws_s3_region": S3_REGION,
    "aws_s3_prefix": S3_PREFIX,
    "aws.credential.provider": PROVIDER,
}


def _key(
    name: str, doc: str, type_: Type = Type.STRING, importance: Importance = Importance.MEDIUM
) -> ConfigKey:
    return ConfigKey(name, type_, default=None, importance=importance, doc=doc, group="Storage")


_CURRENT = (
    _key(S3_BUCKET, "The S3 bucket.", importance=Importance.HIGH),
    _key(
        S3_ENDPOINT,
        "Address of an S3-compatible server, such as https://minio.example:9000; unset, Amazon's. "
        "The bucket is then named in the path.",
    ),
    _key(S3_REGION, "The region of the bucket; unset, us-east-1."),
    _key(S3_PREFIX, "What the names of all objects in the S3 bucket begin with."),
    _key(
        S3_KEY_ID,
        "The access key. Unset, credentials are looked up where the task runs: in its environment "
        "or from the machine's role.",
        Type.PASSWORD,
    ),
    _key(S3_SECRET, "The secret of the access key.", Type.PASSWORD),
    _key(
        PROVIDER,
        "A class of Amazon's SDK: DefaultCredentialsProvider, and those for the environment, a web "
        "identity, a container and the machine, mean what is done without an access key; "
        "AnonymousCredentialsProvider sends requests unsigned. Others are refused.",
    ),
    ConfigKey(
        S3_ENCRYPTION,
        default=None,
        validator=one_of("AES256", "aws:kms", "aws:kms:dsse"),
        doc="How S3 encrypts what is written; unset, as the bucket says.",
        group="Storage",
    ),
    _key(GCS_BUCKET, "The bucket in Google Cloud Storage.", importance=Importance.HIGH),
    _key(GCS_ENDPOINT, "Address of another server that speaks Google Cloud Storage's API."),
    _key(GCS_CREDENTIALS_PATH, "Path of the file with Google's credentials, as tasks see it."),
    _key(GCS_CREDENTIALS_JSON, "Google's credentials as JSON.", Type.PASSWORD),
    _key(
        GCS_DEFAULT,
        "true: Google's default credentials, those of the environment or the machine, as without "
        "gcs.credentials.path and gcs.credentials.json. false is refused.",
        Type.BOOLEAN,
    ),
    _key(GCS_ENCODING, "The Content-Encoding of objects that are written to Google."),
    _key(GCS_AGENT, "How requests to Google name their sender.", importance=Importance.LOW),
    _key(AZURE_CONTAINER, "The container in Azure Blob Storage.", importance=Importance.HIGH),
    _key(AZURE_CONNECTION, "The connection string of the Azure account.", Type.PASSWORD),
    _key(AZURE_PREFIX, "What the names of all objects in the Azure container begin with."),
    _key(AZURE_AGENT, "How requests to Azure name their sender.", importance=Importance.LOW),
    _key(PREFIX, "What the names of all objects begin with, in whichever storage."),
    _key(
        FOLDER,
        "A folder instead of a bucket, as every host sees it on which tasks run. It must exist.",
        importance=Importance.HIGH,
    ),
)

STORE_CONFIG: Final = ConfigDef(
    *_CURRENT,
    *RETRY_CONFIG,
    *REFUSED_CONFIG,
    *(
        ConfigKey(
            old,
            next(key.type for key in _CURRENT if key.name == new),
            default=None,
            importance=Importance.LOW,
            doc=f"Older name of {new}.",
            group="Storage",
        )
        for old, new in OLD_NAMES.items()
    ),
)
"""Add it to a connector's ConfigDef."""


def with_current_names(config: Mapping[str, str]) -> dict[str, str]:
    """``config`` without older names; where both are set, the current one counts."""
    renamed = {OLD_NAMES[name]: text for name, text in config.items() if name in OLD_NAMES}
    return {**renamed, **{k: v for k, v in config.items() if k not in OLD_NAMES}}
