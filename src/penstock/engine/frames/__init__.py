"""Turns whose work is a relation: one Spark job over a DataFrame, planned by Spark."""
