"""Sequence numbers per task, as Kafka Connect's verifiable connectors have them."""
