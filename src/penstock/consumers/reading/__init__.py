"""Reading records: where to start, fetching, and progress."""
