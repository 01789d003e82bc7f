"""Keys of Aiven's connectors that cannot be followed: refused, or accepted with a warning."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Final

from penstock.sdk.config import ConfigDef, ConfigKey, Importance, Type

log = logging.getLogger(__name__)

PROVIDER: Final = "aws.credentials.provider"
GCS_DEFAULT: Final = "gcs.credentials.default"

LOOKED_UP: Final = (
    "DefaultCredentialsProvider",
    "DefaultAWSCredentialsProviderChain",
    "EnvironmentVariableCredentialsProvider",
    "WebIdentityTokenFileCredentialsProvider",
    "WebIdentityTokenCredentialsProvider",
    "ContainerCredentialsProvider",
    "EC2ContainerCredentialsProviderWrapper",
    "InstanceProfileCredentialsProvider",
)
"""Classes of Amazon's SDK that stand for what is done where no access key is set."""
ANONYMOUS: Final = "AnonymousCredentialsProvider"

_INSTEAD: Final = (
    "Leave it out: without aws.access.key.id, credentials are those of the environment in which "
    "tasks run (AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_ROLE_ARN and "
    "AWS_WEB_IDENTITY_TOKEN_FILE for a role) or of the machine's role. Or set aws.access.key.id "
    "and aws.secret.access.key."
)
_ROLES: Final = "no role is assumed by configuration. " + _INSTEAD

ROLE: Final = "aws.sts.role.arn"
REFUSED: Final[Mapping[str, str]] = {
    ROLE: _ROLES,
    "aws.sts.role.external.id": _ROLES,
    "aws.sts.role.session.name": _ROLES,
    "aws.sts.role.session.duration": _ROLES,
    "aws.sts.config.endpoint": _ROLES,
    "file.prefix.template": "it is not used. Write it in front of file.name.template, which is "
    "matched with, or makes, the whole name.",
}
"""Each key with what to do instead."""

UNUSED: Final[Mapping[str, str]] = {
    "aws.s3.fetch.page.size": "a page of a listing has 1000 objects.",
    "azure.blob.fetch.page.size": "a page of a listing is as long as Azure makes it.",
    "ring.buffer.size": "which objects were read is in the offsets.",
    "aws.s3.fetch.buffer.size": "see ring.buffer.size.",
    "azure.blob.fetch.buffer.size": "see ring.buffer.size.",
    "aws.s3.part.size.bytes": "objects above 8 MB are uploaded in parts of 8 MB.",
    "kafka.retry.backoff.ms": "storage that does not answer is asked again until it does.",
    "file.name.timestamp.timezone": "names are read here, and not made.",
    "file.name.timestamp.source": "names are read here, and not made.",
    "schema.registry.url": "set key.converter.schema.registry.url and "
    "value.converter.schema.registry.url where a converter needs one.",
}
"""Each key with what is done instead."""


def _unused(name: str, type_: Type = Type.LONG) -> ConfigKey:
    doc = f"Accepted, for configurations of Aiven's connector, and without effect: {UNUSED[name]}"
    return ConfigKey(name, type_, default=None, importance=Importance.LOW, doc=doc)


def _refused(name: str, instead: str) -> ConfigKey:
    short = f"see {ROLE}." if instead == _ROLES and name != ROLE else instead
    doc = f"A key of Aiven's that is refused: {short}"
    return ConfigKey(name, default=None, importance=Importance.LOW, doc=doc, group="Storage")


UNUSED_BY_SOURCES: Final = ConfigDef(
    _unused("aws.s3.fetch.page.size"),
    _unused("ring.buffer.size"),
    _unused("aws.s3.fetch.buffer.size"),
    _unused("azure.blob.fetch.page.size"),
    _unused("azure.blob.fetch.buffer.size"),
    _unused("file.name.timestamp.timezone", Type.STRING),
    _unused("file.name.timestamp.source", Type.STRING),
    _unused("schema.registry.url", Type.STRING),
)
UNUSED_BY_SINKS: Final = ConfigDef(
    _unused("aws.s3.part.size.bytes"),
    _unused("kafka.retry.backoff.ms"),
)
REFUSED_CONFIG: Final = ConfigDef(
    *(_refused(name, instead) for name, instead in REFUSED.items()),
)


def refused_keys(config: Mapping[str, str]) -> list[tuple[str, str]]:
    """Those that are set and cannot be followed: (key, message) pairs."""
    found = [(key, instead) for key, instead in REFUSED.items() if config.get(key)]
    provider = config.get(PROVIDER)
    if provider and provider_name(provider) not in (*LOOKED_UP, ANONYMOUS):
        found.append((PROVIDER, f"{provider} is a Java class, which is not loaded. {_INSTEAD}"))
    if str(config.get(GCS_DEFAULT) or "true").strip().lower() == "false":
        instead = "Leave it out, or set it to true: Google's default credentials are then used."
        found.append((GCS_DEFAULT, f"there is no access without credentials. {instead}"))
    return found


def warn_of_unused(config: Mapping[str, str], unused: ConfigDef) -> None:
    """Log which of the keys that have no effect are set, and why."""
    for name in unused.names():
        if config.get(name):
            log.warning("%s has no effect: %s", name, UNUSED[name])


def provider_name(text: str) -> str:
    """The last part of the name of a Java class."""
    return text.strip().rpartition(".")[2]
