"""The executor's side: one task that polls or puts, and commits."""
