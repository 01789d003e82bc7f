"""Penstock beside its peers, measured: ``python -m bench [ROW ...]``, or ``make bench``."""
