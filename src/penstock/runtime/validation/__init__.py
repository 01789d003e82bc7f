"""Checks of configs, and the secrets in them."""
