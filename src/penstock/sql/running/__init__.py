"""Statements at work: each gives a result, which the shell prints and the API sends."""
