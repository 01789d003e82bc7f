"""Converters whose schemas are kept in a schema registry."""
