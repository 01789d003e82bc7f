"""Shortcuts in WITH: keys of a statement that stand for several of a config."""

from __future__ import annotations

from penstock.sql.connecting.classes import simple_name

Config = dict[str, str]
SMT = "org.apache.kafka.connect.transforms."


def expanded(config: Config) -> Config:
    """The config that is meant; where no shortcut is used, the one that is given."""
    if simple_name(config.get("connector.class", "")).lower() != "jdbcsourceconnector":
        return config
    column = config.pop("key", None)
    return {"tasks.max": "1", **config, **(_keyed_by(column, config) if column else {})}


def _keyed_by(column: str, config: Config) -> Config:
    """Take the record's key from a column of its value."""
    before = config.get("transforms", "")
    chain = [*filter(None, before.split(",")), "ksqlCreateKey", "ksqlExtractString"]
    return {
        "transforms": ",".join(chain),
        "transforms.ksqlCreateKey.type": SMT + "ValueToKey",
        "transforms.ksqlCreateKey.fields": column,
        "transforms.ksqlExtractString.type": SMT + "ExtractField$Key",
        "transforms.ksqlExtractString.field": column,
    }
