"""Which task reads which object of a store."""
