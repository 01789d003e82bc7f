"""The worker: its stores, its herder, and the loop that runs every connector."""
