"""What the worker shows: states, metrics and lags. Read-only."""
