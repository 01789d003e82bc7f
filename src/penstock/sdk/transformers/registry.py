"""Transformers by name: ours are found by entry points exactly as a third party's are."""

from __future__ import annotations

from penstock.sdk.named_plugins import load_named, names_in
from penstock.sdk.transformers.transformer import Transformer

GROUP = "penstock.transformers"


def transformer_names() -> list[str]:
    """What ``input.format`` may say."""
    return names_in(GROUP)


def transformer_class(name: str) -> type[Transformer]:
    """The transformer called ``name``; ConfigError lists those there are, or what to install."""
    return load_named(GROUP, name, Transformer, "input format")  # type: ignore[type-abstract]  # no instance is made
