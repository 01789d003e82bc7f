"""Tests written in SQL: `penstock sql test`."""
