"""The driver's side of Spark: the session, turns and heartbeats."""
