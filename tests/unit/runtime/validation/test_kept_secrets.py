"""Each built-in connector's secrets stay with the place for which they were given."""

from __future__ import annotations

import pytest

from penstock.runtime.errors import BadRequest
from penstock.runtime.plugins import Plugin, Plugins
from penstock.runtime.validation.kept_secrets import with_stored
from penstock.runtime.validation.secret_keys import SecretKeys
from penstock.sdk.config import HIDDEN

PLUGINS = Plugins()
SECRETS = SecretKeys(PLUGINS)
SECRET = "hunter2"
GIVEN: dict[str, list[tuple[str, str]]] = {
    "JdbcSourceConnector": [("connection.password", "connection.url")],
    "JdbcSinkConnector": [("connection.password", "connection.url")],
    "ElasticsearchSinkConnector": [
        ("connection.password", "connection.url"),
        ("proxy.password", "proxy.host"),
    ],
    "ObjectSourceConnector": [
        ("aws.secret.access.key", "aws.s3.endpoint"),
        ("aws_secret_access_key", "aws_s3_endpoint"),
        ("gcs.credentials.json", "gcs.endpoint"),
    ],
    "ObjectSinkConnector": [
        ("aws.access.key.id", "aws.s3.endpoint"),
        ("gcs.credentials.json", "gcs.endpoint"),
    ],
    "MirrorSourceConnector": [
        ("source.cluster.sasl.password", "source.cluster.bootstrap.servers"),
        ("source.cluster.sasl.jaas.config", "source.cluster.bootstrap.servers"),
    ],
    "SparkSourceConnector": [("format.options.password", "format.options.url")],
    "SparkSinkConnector": [("format.options.password", "format.options.url")],
}
"""Of each connector: a secret, and a key that says where it is sent."""
CASES = [(name, *pair) for name, pairs in GIVEN.items() for pair in pairs]


def test_every_connector_with_a_secret_is_here() -> None:
    with_secrets = {plugin.cls.__name__ for plugin in PLUGINS.connectors if _has_secret(plugin)}
    assert with_secrets <= set(GIVEN)
    assert set(GIVEN) <= {plugin.cls.__name__ for plugin in PLUGINS.connectors}


def _has_secret(plugin: Plugin) -> bool:
    ours = plugin.cls.__module__.startswith("penstock.plugins.")
    return ours and any(key.secret for key in plugin.cls.config_def)


@pytest.mark.parametrize(("connector", "secret", "place"), CASES)
def test_a_changed_host_asks_for_the_secret_again(connector: str, secret: str, place: str) -> None:
    stored = {"connector.class": connector, secret: SECRET, place: "here.example:1"}
    shown = SECRETS.masked(stored)
    assert shown == {**stored, secret: HIDDEN}
    assert with_stored({**shown, "tasks.max": "2"}, stored, SECRETS)[secret] == SECRET
    gone = {key: value for key, value in shown.items() if key != place}
    for moved in ({**shown, place: "there.example:1"}, gone):
        with pytest.raises(BadRequest, match="Send the value itself") as refused:
            with_stored(moved, stored, SECRETS)
        assert place in str(refused.value)
        assert SECRET not in str(refused.value)
    again = {**shown, place: "there.example:1", secret: "new"}
    assert with_stored(again, stored, SECRETS) == again
