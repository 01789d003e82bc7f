"""Connectors for tests, installed as a third party's would be: by entry points."""
