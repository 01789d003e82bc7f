"""In which consumer group a sink keeps its offsets."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from penstock.config.providers import AllowedPaths, FileProvider
from penstock.config.references import Providers
from penstock.kafka.sink_copies import SinkGroup
from penstock.runtime.config.override_policy import OverridePolicy
from penstock.runtime.config.worker_rules import Rules
from penstock.runtime.plugins import Plugins
from penstock.runtime.stores.sink_groups import SinkGroups, chosen_group
from penstock.sdk.errors import ConfigError

KEY = "consumer.override.group.id"
SINK = {"connector.class": "FileStreamSink", "topics": "t"}
SOURCE = {"connector.class": "FileStreamSource", "topic": "t"}
ALL = OverridePolicy("All")


def groups(rules: Rules | None = None, **configs: dict[str, str]) -> SinkGroups:
    store: Any = SimpleNamespace(
        with_key=lambda key: [name for name, config in configs.items() if key in config],
        config=configs.get,
    )
    return SinkGroups(store, Plugins(), rules or Rules(overrides=ALL))


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({}, "connect-a"),
        ({KEY: "mine"}, "mine"),
        ({KEY: " mine\n"}, "mine"),
        ({KEY: ""}, "connect-a"),
    ],
)
def test_the_group_of_a_config(config: dict[str, str], expected: str) -> None:
    assert chosen_group("a", config) == ("a", expected)
    assert groups(a={**SINK, **config}).of("a") == ("a", expected)


def test_a_connector_that_is_not_there() -> None:
    assert groups().of("a") == ("a", "connect-a")


def test_references_are_resolved(tmp_path: Path) -> None:
    file = tmp_path / "groups.properties"
    file.write_text("mine=orders\n")
    providers = Providers({"file": FileProvider(AllowedPaths((str(tmp_path),)))})
    stored = {**SINK, KEY: f"${{file:{file}:mine}}-1"}
    found = groups(Rules(providers, ALL), a=stored, b={**SINK, KEY: "orders-1"})
    assert found.of("a") == ("a", "orders-1")
    with pytest.raises(ConfigError, match="Connector a keeps its offsets in the same"):
        found.refuse_shared(found.of("b"))
    file.write_bytes(b"\xff")
    with pytest.raises(ConfigError, match="Could not read properties"):
        found.of("a")


def test_a_policy_that_came_later() -> None:
    """What it does not allow counts nowhere; the connector is FAILED and says so."""
    forbidden = groups(Rules(), a={**SINK, KEY: "mine"}, b=SINK)
    with pytest.raises(ConfigError, match=r"^consumer.override.group.id: The 'None' policy does"):
        forbidden.of("a")
    assert forbidden.of("b") == ("b", "connect-b")
    forbidden.refuse_shared(SinkGroup("c", "mine"))


def test_no_two_sinks_share_a_group() -> None:
    found = groups(
        a=SINK, b={**SINK, KEY: "ours"}, c=SOURCE, d={"connector.class": "not.Installed"}
    )
    for other, group in (("a", "connect-a"), ("b", "ours")):
        with pytest.raises(ConfigError, match=f"^Connector {other} keeps its offsets in the same"):
            found.refuse_shared(SinkGroup("new", group))
    for free in ("connect-b", "connect-c", "connect-d", "theirs"):
        found.refuse_shared(SinkGroup("new", free))
    for itself in ("a", "b"):
        found.refuse_shared(found.of(itself))
