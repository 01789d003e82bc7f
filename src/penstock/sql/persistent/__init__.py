"""Persistent queries at work: as connectors whose turns are Spark's."""
