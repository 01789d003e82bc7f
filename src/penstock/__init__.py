"""Penstock: connectors with first-class offsets, whose every record Spark moves."""

__version__ = "0.1.0"
