"""From a connector's configuration to its converters and transforms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.columnar.converter import Converter
from penstock.columnar.transform import Transform
from penstock.engine.pipeline import Pipeline
from penstock.runtime.part_keys import TRANSFORMS, aliases
from penstock.runtime.plugins import Plugin, Plugins
from penstock.sdk.errors import ConfigError


def build_pipeline(
    plugins: Plugins, config: Mapping[str, str], worker: Mapping[str, str]
) -> Pipeline:
    """The pipeline of a connector; ``worker`` gives the converters it does not name itself."""
    return Pipeline(
        key=_converter(plugins, "key.converter", config, worker),
        value=_converter(plugins, "value.converter", config, worker),
        transforms=[_transform(plugins, alias, config) for alias in aliases(config, TRANSFORMS)],
    )


def _converter(
    plugins: Plugins, key: str, config: Mapping[str, str], worker: Mapping[str, str]
) -> Converter:
    # A connector that names its own converter inherits none of the worker's settings for its own.
    source = config if config.get(key) else worker
    plugin = plugins.converter(source.get(key, "").strip())
    converter = _instance(plugin, key, source.get(key, ""))
    converter.configure(_sub_keys(source, key + "."), is_key=key.startswith("key"))
    assert isinstance(converter, Converter)  # noqa: S101 (narrows the type)
    return converter


def _transform(plugins: Plugins, alias: str, config: Mapping[str, str]) -> Transform:
    key = f"transforms.{alias}.type"
    transform = _instance(plugins.transform(config.get(key, "").strip()), key, config.get(key, ""))
    transform.configure(_sub_keys(config, f"transforms.{alias}."))
    assert isinstance(transform, Transform)  # noqa: S101 (narrows the type)
    return transform


def _instance(plugin: Plugin | None, key: str, name: str) -> Any:
    if plugin is None:
        raise ConfigError(
            f"Invalid value {name} for configuration {key}: Class {name} could not be found.",
            key=key,
        )
    return plugin.cls()


def _sub_keys(config: Mapping[str, str], prefix: str) -> dict[str, str]:
    return {k.removeprefix(prefix): v for k, v in config.items() if k.startswith(prefix)}
