"""`penstock demo`: KLIP-7's example, pageviews joined with users that are kept in PostgreSQL."""
