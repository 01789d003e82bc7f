"""Kafka Connect's single message transforms, over columns."""
