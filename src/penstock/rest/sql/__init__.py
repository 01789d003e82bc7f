"""SQL over HTTP, in the shapes of ksqlDB's API."""
