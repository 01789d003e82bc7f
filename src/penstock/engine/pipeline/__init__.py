"""Converters, transforms and predicates of a connector, as one pipeline."""
