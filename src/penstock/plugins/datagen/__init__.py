"""Made-up records from an Avro schema, for tries and demonstrations."""
