"""Counters behind metrics and statuses."""
