"""Avro with a schema registry: records in Confluent's form as the JSON that SQL reads, and back."""
