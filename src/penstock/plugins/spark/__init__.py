"""Whatever Spark can write, as connectors."""
