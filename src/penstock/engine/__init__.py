"""Spark: the session, the source turn and the sink turn, and the leases that run inside them."""
