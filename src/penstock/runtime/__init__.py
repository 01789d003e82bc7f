"""The worker: its stores, its herder, and the loop that gives every connector its turns."""
