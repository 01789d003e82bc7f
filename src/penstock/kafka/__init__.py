"""Kafka as the rest of the house uses it: clients, the compacted log, transactions, groups."""
