"""Kafka Connect as SQL sees it: a worker in this process, or any REST endpoint."""
