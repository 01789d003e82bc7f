"""docs/connectors.md is what the connectors declare, and their examples are configurations."""

from pathlib import Path

import pytest

from connector_docs import connectors_document
from penstock.runtime.own_answers import OwnAnswers
from penstock.runtime.plugins import Plugin, Plugins

DOCUMENT = Path(__file__).parents[3] / "docs/connectors.md"
PLUGINS = Plugins()
OURS = [
    plugin for plugin in PLUGINS.connectors if plugin.cls.__module__.startswith("penstock.plugins.")
]


def test_lists_the_keys_as_they_are_declared() -> None:
    assert DOCUMENT.read_text() == connectors_document(), (
        "write it anew: PYTHONPATH=tests/support python -c "
        '"import connector_docs as d; print(d.connectors_document(), end=str())" '
        "> docs/connectors.md"
    )


@pytest.mark.parametrize("plugin", OURS, ids=lambda plugin: plugin.cls.__name__)
def test_each_has_an_example_that_is_valid_and_holds_no_secret(plugin: Plugin) -> None:
    example = dict(plugin.cls.example)
    assert PLUGINS.connector(example["connector.class"]) == plugin
    shown = OwnAnswers(PLUGINS, "cluster").validate(
        example["connector.class"], {"name": "n", **example}
    )
    wrong = {c["value"]["name"]: c["value"]["errors"] for c in shown["configs"]}
    assert {name: errors for name, errors in wrong.items() if errors} == {}
    known = {key.name for key in plugin.cls.config_def}
    others = ("connector.class", "tasks.max", "topics", "key.converter", "value.converter")
    strange = [key for key in example if key not in known and not key.startswith(others)]
    assert strange == []
    secret = [key.name for key in plugin.cls.config_def if key.type.name == "PASSWORD"]
    assert all(example[key].startswith("${file:") for key in secret if key in example)
