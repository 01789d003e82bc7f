"""Databases: tables to topics, read as Arrow, and topics to tables."""
