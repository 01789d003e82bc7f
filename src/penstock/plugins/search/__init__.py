"""Topics to the indexes of Elasticsearch and OpenSearch."""
