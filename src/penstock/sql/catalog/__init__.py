"""Streams, tables and types: what is declared over topics, kept in a compacted topic."""
