"""Connectors for object storage: S3, Google Cloud Storage, Azure Blob Storage, a local folder."""
