"""Requests and answers: bodies, limits, errors, JSON."""
