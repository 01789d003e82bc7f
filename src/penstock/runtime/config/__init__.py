"""The config keys of workers and connectors."""
