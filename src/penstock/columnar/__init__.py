"""Converters and transforms: pure functions over Arrow batches, without Spark and Kafka."""
