"""Opens the storage that a configuration names, and says in plain words what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from obstore import exceptions
from obstore.store import AzureStore, GCSStore, LocalStore, ObjectStore, S3Store

from penstock.plugins.files.file_jail import Jail
from penstock.plugins.objects import store_config as keys
from penstock.plugins.objects.aiven_keys import (
    ANONYMOUS,
    GCS_DEFAULT,
    PROVIDER,
    provider_name,
    refused_keys,
)
from penstock.plugins.objects.store_config import STORE_CONFIG, with_current_names
from penstock.plugins.objects.store_retries import azure_retries, gcs_retries, s3_retries
from penstock.sdk.errors import ConfigError, PenstockError, RetriableError, UserError

ANSWER_SECONDS: Final = 30
TEXT_LIMIT: Final = 500
DEFAULT_REGION: Final = "us-east-1"
REFUSALS: Final = (
    PermissionError,
    exceptions.PermissionDeniedError,
    exceptions.UnauthenticatedError,
)
NO_BUCKET: Final = ("NoSuchBucket", "ContainerNotFound")
"""What S3 and Google say, and what Azure says."""

REFUSED: Final = ("401 Unauthorized", "403 Forbidden")
"""Of a listing, only the text tells."""

CLIENT: Final[Any] = {"timeout": f"{ANSWER_SECONDS}s", "connect_timeout": "5s"}


@dataclass(frozen=True)
class Storage:
    """Where objects are."""

    store: ObjectStore
    bucket: str
    """The bucket, the container or the folder: the name of it in offsets and messages."""
    prefix: str = ""
    """What the names of all objects begin with; often, not always, with a slash at its end."""
    attributes: Mapping[str, str] = field(default_factory=dict)
    """What every object that is written says of itself, such as its Content-Encoding."""

    def __str__(self) -> str:
        return f"{self.bucket}/{self.prefix}"


def open_storage(config: Mapping[str, str]) -> Storage:
    """The storage; it is not asked for yet. ConfigError, UserError."""
    for key, message in storage_errors(config):
        raise ConfigError(f"{key}: {message}", key=key)
    values = STORE_CONFIG.parse(with_current_names(config))
    place = next(key for key in keys.PLACES if values[key])
    prefix = values[keys.PREFIX] or values.get(_PREFIXES.get(place, ""), "") or ""
    if place == keys.FOLDER:
        Jail.of(config).check(values[place])
    try:
        return Storage(_OPENERS[place](values), values[place], prefix, _attributes(place, values))
    except (exceptions.BaseError, ValueError, OSError) as error:
        raise ConfigError(f"{place}: {_text(error)}", key=place) from None


def storage_errors(config: Mapping[str, str]) -> Sequence[tuple[str, str]]:
    """What is wrong between the keys, for a connector's ``validate``: (key, message) pairs."""
    values = with_current_names(config)
    chosen = [key for key in keys.PLACES if values.get(key)]
    if len(chosen) != 1:
        which = f"{' and '.join(chosen)} are set" if chosen else "none of them is set"
        return [((chosen or keys.PLACES)[0], f"set one of {', '.join(keys.PLACES)}: {which}")]
    if bool(values.get(keys.S3_KEY_ID)) != bool(values.get(keys.S3_SECRET)):
        return [(keys.S3_KEY_ID, f"set it together with {keys.S3_SECRET}, or neither")]
    if chosen == [keys.AZURE_CONTAINER] and not values.get(keys.AZURE_CONNECTION):
        return [(keys.AZURE_CONNECTION, "set it to the account's connection string")]
    return [*refused_keys(values), *_credential_errors(values)]


def _credential_errors(values: Mapping[str, str]) -> list[tuple[str, str]]:
    given = (keys.GCS_CREDENTIALS_PATH, keys.GCS_CREDENTIALS_JSON, GCS_DEFAULT)
    found = [key for key in given if values.get(key)]
    return [(found[0], f"set one of {', '.join(found)}")] if len(found) > 1 else []


@contextmanager
def plain_errors(storage: Storage, doing: str) -> Iterator[None]:
    """Errors of the storage as RetriableError, or as UserError where a person has to act.

    FileNotFoundError of a single object passes: only the caller knows what that means.
    """
    try:
        yield
    except (exceptions.BaseError, OSError) as error:
        if any(code in str(error) for code in NO_BUCKET):
            text = f"{doing}: there is no bucket {storage.bucket}. Create it."
            raise UserError(text) from None
        if isinstance(error, FileNotFoundError):
            raise
        raise _explained(f"{doing} in {storage.bucket}", error) from None


def _explained(doing: str, error: Exception) -> PenstockError:
    text = _text(error)
    if isinstance(error, REFUSALS) or any(status in text for status in REFUSED):
        return UserError(f"{doing} is not allowed: {text}. Check the credentials and their rights.")
    if isinstance(error, exceptions.InvalidPathError | exceptions.NotSupportedError):
        return UserError(f"{doing}: {text}")
    return RetriableError(f"{doing} failed: {text}", retry_after=2.0)


def _text(error: BaseException) -> str:
    """The message without the dump of the client's inner state after it."""
    first = str(error).partition("\n\nDebug source:")[0]
    return " ".join(first.split())[:TEXT_LIMIT].removesuffix(".")


def _attributes(place: str, values: Mapping[str, Any]) -> Mapping[str, str]:
    encoding = values[keys.GCS_ENCODING] if place == keys.GCS_BUCKET else None
    return {"Content-Encoding": encoding} if encoding else {}


def _client(endpoint: str | None, agent: str | None = None) -> Any:
    client = {**CLIENT, "allow_http": (endpoint or "").startswith("http://")}
    return {**client, "user_agent": agent} if agent else client


def _s3(values: Mapping[str, Any]) -> ObjectStore:
    endpoint = values[keys.S3_ENDPOINT]
    options: dict[str, Any] = {"region": values[keys.S3_REGION] or DEFAULT_REGION}
    if endpoint:
        options |= {"endpoint": endpoint, "virtual_hosted_style_request": False}
    if values[keys.S3_KEY_ID]:
        options["access_key_id"] = values[keys.S3_KEY_ID]
        options["secret_access_key"] = values[keys.S3_SECRET]
    elif provider_name(values[PROVIDER] or "") == ANONYMOUS:
        options["skip_signature"] = True
    if values[keys.S3_ENCRYPTION]:
        options["server_side_encryption"] = values[keys.S3_ENCRYPTION]
    options["client_options"] = _client(endpoint)
    return S3Store(values[keys.S3_BUCKET], retry_config=s3_retries(values), **options)


def _gcs(values: Mapping[str, Any]) -> ObjectStore:
    options: dict[str, Any] = {}
    if values[keys.GCS_CREDENTIALS_PATH]:
        options["service_account"] = values[keys.GCS_CREDENTIALS_PATH]
    if values[keys.GCS_CREDENTIALS_JSON]:
        options["service_account_key"] = values[keys.GCS_CREDENTIALS_JSON]
    if values[keys.GCS_ENDPOINT]:
        options["base_url"] = values[keys.GCS_ENDPOINT]
    options["client_options"] = _client(values[keys.GCS_ENDPOINT], values[keys.GCS_AGENT])
    return GCSStore(values[keys.GCS_BUCKET], retry_config=gcs_retries(values), **options)


def _azure(values: Mapping[str, Any]) -> ObjectStore:
    parts = dict(
        part.split("=", 1) for part in values[keys.AZURE_CONNECTION].split(";") if "=" in part
    )
    names = {"AccountName": "account_name", "AccountKey": "account_key", "BlobEndpoint": "endpoint"}
    options: dict[str, Any] = {names[key]: text for key, text in parts.items() if key in names}
    if "SharedAccessSignature" in parts:
        options["sas_key"] = parts["SharedAccessSignature"]
    options["client_options"] = _client(parts.get("BlobEndpoint"), values[keys.AZURE_AGENT])
    return AzureStore(values[keys.AZURE_CONTAINER], retry_config=azure_retries(values), **options)


def _folder(values: Mapping[str, Any]) -> ObjectStore:
    return LocalStore(prefix=Path(values[keys.FOLDER]))


_OPENERS: Final[Mapping[str, Callable[[Mapping[str, Any]], ObjectStore]]] = {
    keys.S3_BUCKET: _s3,
    keys.GCS_BUCKET: _gcs,
    keys.AZURE_CONTAINER: _azure,
    keys.FOLDER: _folder,
}
_PREFIXES: Final = {keys.S3_BUCKET: keys.S3_PREFIX, keys.AZURE_CONTAINER: keys.AZURE_PREFIX}
