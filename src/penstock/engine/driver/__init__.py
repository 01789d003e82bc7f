"""The driver's side of Spark: the session, and the jobs of carriers."""
