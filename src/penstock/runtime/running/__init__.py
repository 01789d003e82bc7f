"""The loop that runs connectors: look, plan, turn, commit, restart."""
