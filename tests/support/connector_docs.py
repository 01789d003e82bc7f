"""What docs/connectors.md has to say: each connector's example, and its keys as declared."""

from __future__ import annotations

import json
from importlib.metadata import entry_points

from penstock.runtime.plugins import Plugin, Plugins
from penstock.sdk.config import ConfigKey
from penstock.sdk.connectors import Connector
from penstock.sdk.guarantees import described

HEAD = """\
# All connectors and their keys

Made from what the connectors declare; `penstock describe plugin NAME` shows the same of one that is
installed. The keys that all connectors have are in [settings.md](settings.md). A value in
`${file:…}` stands in a file that only the worker reads ([how](databases.md#passwords)).

Guides: [databases](databases.md), [objects as a source](objects.md),
[objects as a target](object-sink.md), [search](search.md), [mirror](mirror.md),
[Spark's formats](frames.md).
"""
INNER = "PersistentQueryConnector"


def connectors_document() -> str:
    """The whole document."""
    ours = [p for p in Plugins().connectors if p.cls.__module__.startswith("penstock.")]
    shown = sorted((p for p in ours if p.cls.__name__ != INNER), key=_name)
    return "\n".join([HEAD, *map(_section, shown)])


def _name(plugin: Plugin) -> str:
    place = f"{plugin.cls.__module__}:{plugin.cls.__name__}"
    points = entry_points(group="penstock.connectors")
    return next(p.name for p in points if p.value.partition(" ")[0] == place)


def _section(plugin: Plugin) -> str:
    doc = (plugin.cls.__doc__ or "").partition("\n\n")[0].replace("``", "`")
    classes = dict.fromkeys([plugin.class_name, *plugin.cls.aliases])
    named = ", ".join(f"`{name}`" for name in classes if not name.startswith("penstock."))
    example = json.dumps(dict(plugin.cls.example), indent=2)
    keys = "\n".join(_row(key) for key in plugin.cls.config_def)
    return (
        f"## {_name(plugin)}\n\n{' '.join(doc.split())}\n\n"
        f"Guarantee: {_guarantee(plugin)}.\n\n"
        + (f"Also: {named}\n\n" if named else "")
        + f"```json\n{example}\n```\n\n"
        + f"| key | default | meaning |\n|---|---|---|\n{keys}\n"
    )


def _guarantee(plugin: Plugin) -> str:
    cls: type[Connector] = plugin.cls
    return described(cls.guarantee, cls.guarantee_limits)


def _row(key: ConfigKey) -> str:
    default = "required" if key.required else f"`{key.text(key.default) or ''}`"
    doc = " ".join(key.doc.split()).replace("|", "\\|")
    return f"| `{key.name}` | {'' if default == '``' else default} | {doc} |"
