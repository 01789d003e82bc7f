"""Queries as Spark's SQL: everything is evaluated by Spark, nothing here."""
