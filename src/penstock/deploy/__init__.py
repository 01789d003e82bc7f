"""The base layer: workers deployed to Kubernetes, configured by options and an upper layer."""
