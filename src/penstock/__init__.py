"""Penstock: Kafka Connect on PySpark, with offsets you can edit."""

__version__ = "0.1.0"
