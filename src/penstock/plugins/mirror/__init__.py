"""Topics of another cluster."""
