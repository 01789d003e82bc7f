"""Statements as data: what the grammar makes, and what is run."""
