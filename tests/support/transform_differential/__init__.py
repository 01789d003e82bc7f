"""Kafka Connect's own transforms and Penstock's, given the same records."""
