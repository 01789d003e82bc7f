"""Objects of a store become records: one transformer for each format."""
